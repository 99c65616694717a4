/**
 * Faults in client authentication, scopes and registration.
 *
 * @module
 */
import { acceptSecrets } from "../form_faults.ts";
import {
  AUTHORIZE,
  changeForms,
  changeJson,
  changeQueries,
  changeRequests,
  changeResponses,
  readForm,
  REGISTER,
  TOKEN,
  withHeaders,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { BEYOND, CLIENTS, parseBasic, SCOPES } from "../registered_clients.ts";
import { resembling } from "../resembling.ts";

const auth = (...ids: string[]): string[] => ids.map((id) => `oauth/client_authentication/${id}`);

const changeScope = (change: (scope: string) => string): Wrap => {
  const edit = (parameters: URLSearchParams) => {
    const scope = parameters.getAll("scope");
    if (scope.length !== 1) return;
    const changed = change(scope[0]!);
    // Without any scope, the server grants its default.
    if (changed === "" && scope[0] !== "") parameters.delete("scope");
    else parameters.set("scope", changed);
  };
  const inForms = changeForms(TOKEN, edit);
  const inQueries = changeQueries(edit);
  return (next) => inForms(inQueries(next));
};

const authorizationOf = (request: Request): string => request.headers.get("authorization") ?? "";

export const CLIENT_AUTHENTICATION: readonly Mutant[] = [
  {
    name: "oauth/secret-optional",
    fault: "Checks a client secret only when one is sent",
    wrap: acceptSecrets(TOKEN, (sent) => sent === ""),
    killedBy: [
      ...auth("secret-missing", "secret-empty"),
      "oauth/client_credentials/name-alone",
      "oauth/refresh/without-secret",
    ],
    mayFail: {
      "They send no secret": ["oauth/client_authentication/secret-", "oauth/device/with-a-secret"],
      "It sends a certificate, but no secret": ["oauth/mutual_tls/certificate-for-another-client"],
    },
  },
  {
    name: "oauth/secret-any",
    fault: "Accepts any client secret",
    wrap: acceptSecrets(TOKEN, (sent) => sent !== ""),
    killedBy: [...auth("secret-wrong", "secret-of-another"), "oauth/client_credentials/wrong-secret"],
    mayFail: {
      "They check what caches may keep": ["oauth/caching/refused-secret"],
      "They send values that resemble the right ones": resembling(
        "client-secret-by-basic",
        "client-secret-in-body",
      ),
      "They send a wrong secret": [
        "oauth/client_authentication/guessing",
        "oauth/client_authentication/secret-with-a-letter-more",
        "oauth/client_authentication/secret-wrong-in-body",
        "oauth/client_authentication/secret-wrong-then-right",
        "oauth/jwt_bearer/wrong-secret",
        "oauth/refresh/wrong-secret",
        "oauth/token_exchange/wrong-secret",
      ],
    },
  },
  {
    name: "oauth/secret-prefix",
    fault: "Compares only the beginning of a client secret",
    wrap: acceptSecrets(TOKEN, (sent, right) => sent.startsWith(right)),
    killedBy: auth("secret-with-a-letter-more"),
  },
  {
    name: "oauth/secret-of-another",
    fault: "Accepts the secret of any client",
    wrap: acceptSecrets(TOKEN, (sent) => CLIENTS.some(({ secret }) => secret === sent)),
    killedBy: auth("secret-of-another"),
  },
  {
    name: "oauth/two-methods",
    fault: "Ignores client_secret in the body beside HTTP Basic",
    wrap: changeForms(TOKEN, (form, request) => {
      if (request.headers.has("authorization")) form.delete("client_secret");
    }),
    killedBy: auth("two-methods", "two-methods-one-wrong"),
  },
  {
    name: "oauth/two-client-ids",
    fault: "Ignores client_id in the body beside HTTP Basic",
    wrap: changeForms(TOKEN, (form, request) => {
      if (request.headers.has("authorization")) form.delete("client_id");
    }),
    killedBy: auth("two-names"),
  },
  {
    name: "oauth/basic-not-decoded",
    fault: "Does not form-decode the user and password of HTTP Basic",
    wrap: changeRequests(TOKEN, (request) => {
      const read = parseBasic(authorizationOf(request));
      const isEncoded = read && /[^\w-]/.test(read.secret);
      return isEncoded ? withRequestHeaders(request, { authorization: "Basic b2RkOndyb25n" }) : request;
    }),
    killedBy: auth("odd-secret"),
  },
  {
    name: "oauth/basic-case-sensitive",
    fault: "Compares the scheme Basic case-sensitively",
    wrap: changeRequests(
      TOKEN,
      (request) =>
        authorizationOf(request).startsWith("Basic ")
          ? request
          : withRequestHeaders(request, { authorization: undefined }),
    ),
    killedBy: auth("basic-in-any-case"),
  },
  {
    name: "oauth/basic-fails-on-malformed",
    fault: "Fails on malformed HTTP Basic",
    wrap: (next) => async (request) =>
      /^basic/i.test(authorizationOf(request)) && !parseBasic(authorizationOf(request))
        ? new Response(null, { status: 500 })
        : await next(request),
    killedBy: auth("basic-not-base64"),
    mayFail: { "They send malformed HTTP Basic": ["oauth/client_authentication/basic-empty"] },
  },
  {
    name: "oauth/invalid-client-with-400",
    fault: "Returns invalid_client with 400 to clients that used HTTP Basic",
    wrap: changeResponses(
      TOKEN,
      (answer) =>
        answer.status === 401 ? withHeaders(answer, { "www-authenticate": undefined }, 400) : answer,
    ),
    killedBy: auth("secret-wrong"),
    mayFail: {
      "They expect invalid_client": [
        "oauth/client_authentication/",
        "oauth/client_credentials/unknown-client",
        "oauth/client_credentials/wrong-secret",
      ],
    },
  },
  {
    name: "oauth/secret-guessing",
    fault: "Does not limit guesses of passwords and secrets",
    wrap: changeResponses(
      undefined,
      (answer) => answer.status === 429 ? withHeaders(answer, {}, 401) : answer,
    ),
    killedBy: [...auth("guessing"), "oauth/login/guessing-passwords", "oauth/revocation/guessing-secrets"],
  },
  {
    name: "oauth/scope-in-any-case",
    fault: "Compares scopes case-insensitively",
    wrap: changeScope((scope) => scope.toLowerCase()),
    killedBy: ["oauth/scope/in-capitals"],
  },
  {
    name: "oauth/scope-unknown-dropped",
    fault: "Drops unknown scopes and grants the default when none is left",
    wrap: changeScope((scope) => scope.split(" ").filter((each) => SCOPES.has(each)).join(" ")),
    killedBy: ["oauth/refresh/unknown-scope"],
    mayFail: {
      "They request the scope openid": [
        "oauth/openid_logout/",
        "oauth/openid_request/claims-malformed",
        "oauth/openid_request/hint-altered",
        "oauth/openid_request/hint-of-another-user",
        "oauth/openid_request/hint-of-the-user",
        "oauth/openid_token/",
        "oauth/openid_userinfo/",
      ],
      "They request an unknown scope": [
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
    name: "oauth/scope-unlimited",
    fault: "Reports every requested scope as granted",
    wrap: (next) => async (request) => {
      const requested = (await readForm(request))?.get("scope");
      const answer = await changeScope((scope) =>
        scope.split(" ").filter((each) => each !== BEYOND).join(" ")
      )(
        next,
      )(request);
      if (BEYOND === undefined || !requested?.includes(BEYOND) || !request.url.endsWith(TOKEN)) return answer;
      return await changeJson(TOKEN, (json) => "scope" in json && (json["scope"] = requested))(() =>
        Promise.resolve(answer)
      )(request);
    },
    killedBy: ["oauth/client_credentials/scope-beyond"],
    mayFail: {
      "They request the same scope": [
        "oauth/client_credentials/scope-partly-beyond",
        "oauth/token_exchange/more-scope",
      ],
    },
  },
  {
    name: "oauth/scope-error-not-redirected",
    fault: "Does not return invalid_scope to the client",
    wrap: changeResponses(
      AUTHORIZE,
      (answer) =>
        answer.headers.get("location")?.includes("error=invalid_scope")
          ? new Response("no such scope", { status: 500 })
          : answer,
    ),
    killedBy: ["oauth/scope/unknown", "oauth/scope/with-quote"],
    mayFail: {
      "They request an unknown scope": [
        "oauth/issuer/not-from-forwarded",
        "oauth/issuer/not-from-x-forwarded-host",
        "oauth/issuer/unknown-scope",
        "oauth/scope/",
      ],
    },
  },
  {
    name: "oauth/registered-one-id",
    fault: "Gives every registered client the same id",
    wrap: changeJson(REGISTER, (json) => "client_id" in json && (json["client_id"] = "registered")),
    killedBy: ["oauth/clients/ids-differ"],
    mayFail: {
      "It registers a client": ["oauth/jarm/registered-algorithm"],
      "They check what caches may keep": ["oauth/caching/registration-updated"],
      "They use or compare the client id": [
        "oauth/client_management/",
        "oauth/clients/confidential-stays-confidential",
        "oauth/registration/",
      ],
    },
  },
  {
    name: "oauth/registered-public-secret",
    fault: "Issues short secrets, to public clients too",
    wrap: changeJson(REGISTER, (json) => "client_id" in json && (json["client_secret"] = "secret")),
    killedBy: ["oauth/clients/public-gets-no-secret", "oauth/clients/secret-entropy"],
    mayFail: {
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
    fault: "Registers any redirect URI",
    wrap: changeResponses(
      REGISTER,
      (answer) =>
        answer.status === 400
          ? Response.json({ client_id: crypto.randomUUID(), redirect_uris: ["x"] }, { status: 201 })
          : answer,
    ),
    killedBy: [
      "oauth/clients/redirect-uri-relative",
      "oauth/clients/redirect-uri-with-fragment",
      "oauth/clients/one-bad-redirect-uri-of-two",
    ],
    mayFail: {
      "They register a client that must be refused": [
        "oauth/clients/public-without-redirect-uri",
        "oauth/clients/redirect-uri-without-tls",
        "oauth/registration/",
      ],
    },
  },
];
