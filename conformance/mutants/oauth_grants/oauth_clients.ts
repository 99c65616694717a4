/**
 * Faults of client authentication, of scopes and of registration.
 *
 * @module
 */
import { taken } from "../endpoint.ts";
import {
  AUTHORIZE,
  faultyAnswers,
  faultyForms,
  faultyJson,
  faultyQueries,
  faultyRequests,
  readForm,
  REGISTER,
  TOKEN,
  withFields,
  withRequestFields,
} from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { CLIENTS, readBasic } from "../registered.ts";

const auth = (...ids: string[]): string[] => ids.map((id) => `oauth/client_authentication/${id}`);

const changedScope = (change: (scope: string) => string): Wrap => {
  const edit = (parameters: URLSearchParams) => {
    const scope = parameters.getAll("scope");
    if (scope.length === 1) parameters.set("scope", change(scope[0]!));
  };
  const inForms = faultyForms(TOKEN, edit);
  const inQueries = faultyQueries(edit);
  return (next) => inForms(inQueries(next));
};

const field = (request: Request): string => request.headers.get("authorization") ?? "";

export const CLIENT_AUTHENTICATION: readonly Mutant[] = [
  {
    name: "oauth/secret-optional",
    fault: "Asks for a secret only where one is sent",
    wrap: taken(TOKEN, (sent) => sent === ""),
    breaks: [
      ...auth("secret-missing", "secret-empty"),
      "oauth/client_credentials/name-alone",
      "oauth/refresh/without-secret",
    ],
    mayBreak: {
      "They send no secret, too": ["oauth/client_authentication/secret-", "oauth/device/with-a-secret"],
    },
  },
  {
    name: "oauth/secret-any",
    fault: "Takes any secret",
    wrap: taken(TOKEN, (sent) => sent !== ""),
    breaks: [...auth("secret-wrong", "secret-of-another"), "oauth/client_credentials/wrong-secret"],
    mayBreak: {
      "They send a wrong secret, too": [
        "oauth/client_authentication/guessing",
        "oauth/client_authentication/secret-with-a-letter-more",
        "oauth/client_authentication/secret-wrong-in-body",
        "oauth/client_authentication/secret-wrong-then-right",
        "oauth/refresh/wrong-secret",
        "oauth/token_exchange/wrong-secret",
      ],
    },
  },
  {
    name: "oauth/secret-prefix",
    fault: "Compares only as many letters of a secret as it has",
    wrap: taken(TOKEN, (sent, right) => sent.startsWith(right)),
    breaks: auth("secret-with-a-letter-more"),
  },
  {
    name: "oauth/secret-of-another",
    fault: "Takes the secret of any client",
    wrap: taken(TOKEN, (sent) => CLIENTS.some(({ secret }) => secret === sent)),
    breaks: auth("secret-of-another"),
  },
  {
    name: "oauth/two-methods",
    fault: "Overlooks a secret in the body where there is one in the field",
    wrap: faultyForms(TOKEN, (form, request) => {
      if (request.headers.has("authorization")) form.delete("client_secret");
    }),
    breaks: auth("two-methods", "two-methods-one-wrong"),
  },
  {
    name: "oauth/two-names",
    fault: "Overlooks a name in the body that differs from that in the field",
    wrap: faultyForms(TOKEN, (form, request) => {
      if (request.headers.has("authorization")) form.delete("client_id");
    }),
    breaks: auth("two-names"),
  },
  {
    name: "oauth/basic-not-decoded",
    fault: "Takes name and password of HTTP Basic as they stand",
    wrap: faultyRequests(TOKEN, (request) => {
      const read = readBasic(field(request));
      const isEncoded = read && /[^\w-]/.test(read.secret);
      return isEncoded ? withRequestFields(request, { authorization: "Basic b2RkOndyb25n" }) : request;
    }),
    breaks: auth("odd-secret"),
  },
  {
    name: "oauth/basic-in-capitals-only",
    fault: "Knows the scheme only as Basic",
    wrap: faultyRequests(
      TOKEN,
      (request) =>
        field(request).startsWith("Basic ")
          ? request
          : withRequestFields(request, { authorization: undefined }),
    ),
    breaks: auth("basic-in-any-case"),
  },
  {
    name: "oauth/basic-fault",
    fault: "Fails on HTTP Basic that cannot be read",
    wrap: (next) => async (request) =>
      /^basic/i.test(field(request)) && !readBasic(field(request))
        ? new Response(null, { status: 500 })
        : await next(request),
    breaks: auth("basic-not-base64"),
    mayBreak: { "They send HTTP Basic that cannot be read": ["oauth/client_authentication/basic-empty"] },
  },
  {
    name: "oauth/invalid-client-with-400",
    fault: "Refuses clients of HTTP Basic without a challenge",
    wrap: faultyAnswers(
      TOKEN,
      (answer) => answer.status === 401 ? withFields(answer, { "www-authenticate": undefined }, 400) : answer,
    ),
    breaks: auth("secret-wrong"),
    mayBreak: {
      "Their client is refused, too": [
        "oauth/client_authentication/",
        "oauth/client_credentials/unknown-client",
        "oauth/client_credentials/wrong-secret",
      ],
    },
  },
  {
    name: "oauth/secret-guessing",
    fault: "Never slows down who guesses",
    wrap: faultyAnswers(undefined, (answer) => answer.status === 429 ? withFields(answer, {}, 401) : answer),
    breaks: [...auth("guessing"), "oauth/login/guessing-passwords"],
    mayBreak: { "It guesses, too": ["oauth/revocation/guessing-secrets"] },
  },
  {
    name: "oauth/scope-in-any-case",
    fault: "Reads scopes in any case",
    wrap: changedScope((scope) => scope.toLowerCase()),
    breaks: ["oauth/scope/in-capitals"],
  },
  {
    name: "oauth/scope-unknown-dropped",
    fault: "Drops scopes that it does not know, and grants the default where nothing is left",
    wrap: changedScope((scope) =>
      scope.split(" ").filter((each) => /^(profile|read|admin)$/.test(each)).join(" ")
    ),
    breaks: ["oauth/refresh/unknown-scope"],
    mayBreak: {
      "They ask for a scope that there is not": [
        "oauth/client_credentials/scope-malformed",
        "oauth/issuer/not-from-forwarded",
        "oauth/issuer/not-from-x-forwarded-host",
        "oauth/issuer/unknown-scope",
        "oauth/refresh/refused-scope-spends-nothing",
        "oauth/par/unknown-scope",
        "oauth/scope/",
      ],
    },
  },
  {
    name: "oauth/scope-beyond",
    fault: "Says that it grants whatever was asked",
    wrap: (next) => async (request) => {
      const asked = (await readForm(request))?.get("scope");
      const answer = await changedScope((scope) =>
        scope.split(" ").filter((each) => each !== "admin").join(" ")
      )(
        next,
      )(request);
      if (!asked?.includes("admin") || !request.url.endsWith(TOKEN)) return answer;
      return await faultyJson(TOKEN, (json) => "scope" in json && (json["scope"] = asked))(() =>
        Promise.resolve(answer)
      )(request);
    },
    breaks: ["oauth/client_credentials/scope-beyond"],
    mayBreak: {
      "They ask for the same scope": [
        "oauth/client_credentials/scope-partly-beyond",
        "oauth/token_exchange/more-scope",
      ],
    },
  },
  {
    name: "oauth/scope-error-untold",
    fault: "Tells the client nothing when its request asks for too much",
    wrap: faultyAnswers(
      AUTHORIZE,
      (answer) =>
        answer.headers.get("location")?.includes("error=invalid_scope")
          ? new Response("no such scope", { status: 500 })
          : answer,
    ),
    breaks: ["oauth/scope/unknown", "oauth/scope/with-quote"],
    mayBreak: {
      "They ask for a scope that there is not": [
        "oauth/issuer/not-from-forwarded",
        "oauth/issuer/not-from-x-forwarded-host",
        "oauth/issuer/unknown-scope",
        "oauth/scope/",
      ],
    },
  },
  {
    name: "oauth/registered-alike",
    fault: "Gives every client that registers the same name",
    wrap: faultyJson(REGISTER, (json) => "client_id" in json && (json["client_id"] = "registered")),
    breaks: ["oauth/clients/ids-differ"],
    mayBreak: {
      "They ask for the client by its name, or compare it": [
        "oauth/client_management/",
        "oauth/clients/confidential-stays-confidential",
        "oauth/registration/",
      ],
    },
  },
  {
    name: "oauth/registered-public-secret",
    fault: "Gives secrets to public clients, and short ones",
    wrap: faultyJson(REGISTER, (json) => "client_id" in json && (json["client_secret"] = "secret")),
    breaks: ["oauth/clients/public-gets-no-secret", "oauth/clients/secret-entropy"],
    mayBreak: {
      "They read or use the secret": [
        "oauth/client_management/deleted-access-token",
        "oauth/client_management/deleted-secret",
        "oauth/client_management/secret-repeated",
        "oauth/registration/keys",
        "oauth/registration/secrets-differ",
        "oauth/registration/secrets-of-instances-differ",
      ],
    },
  },
  {
    name: "oauth/registered-anything",
    fault: "Registers whatever redirect URI it is given",
    wrap: faultyAnswers(
      REGISTER,
      (answer) =>
        answer.status === 400
          ? Response.json({ client_id: crypto.randomUUID(), redirect_uris: ["x"] }, { status: 201 })
          : answer,
    ),
    breaks: [
      "oauth/clients/redirect-uri-relative",
      "oauth/clients/redirect-uri-with-fragment",
      "oauth/clients/one-bad-redirect-uri-of-two",
    ],
    mayBreak: {
      "Each describes a client that must be refused": [
        "oauth/clients/public-without-redirect-uri",
        "oauth/clients/redirect-uri-without-tls",
        "oauth/registration/",
      ],
    },
  },
];
