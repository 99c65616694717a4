/**
 * Servers that refuse or fail right clients: what works elsewhere does not work here.
 *
 * @module
 */
import {
  at,
  faultyForms,
  faultyJson,
  faultyRequests,
  LOGIN,
  pathOf,
  readForm,
  RESOURCE,
  TOKEN,
  withFields,
  withForm,
  withRequestFields,
} from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { readBasic } from "../registered.ts";

const code = (...ids: string[]): string[] => ids.map((id) => `oauth/code/${id}`);
const pkce = (...ids: string[]): string[] => ids.map((id) => `oauth/pkce/${id}`);
const auth = (...ids: string[]): string[] => ids.map((id) => `oauth/client_authentication/${id}`);
const refresh = (...ids: string[]): string[] => ids.map((id) => `oauth/refresh/${id}`);
const endpoint = (...ids: string[]): string[] => ids.map((id) => `oauth/token_endpoint/${id}`);

/** Refuses grants of the token endpoint that the fault does not like. */
const refused = (
  dislikes: (form: URLSearchParams, request: Request) => boolean,
  status = 400,
): Wrap =>
  at(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    if (!form || !dislikes(form, request)) return await next(request);
    return Response.json({ error: "invalid_grant" }, { status });
  });

const isCode = (form: URLSearchParams): boolean => form.get("grant_type") === "authorization_code";
const isRefresh = (form: URLSearchParams): boolean => form.get("grant_type") === "refresh_token";
const verifierOf = (form: URLSearchParams): string => form.get("code_verifier") ?? "";

export const REFUSALS: readonly Mutant[] = [
  {
    name: "oauth/codes-never-good",
    fault: "Gives nothing for codes",
    wrap: refused(isCode),
    breaks: [
      ...code("redeemed", "redirect-uri-never-sent"),
      ...pkce("s256", "example-of-appendix-b"),
      ...auth("basic", "post"),
      "oauth/best_practice/confidential-with-challenge",
      "oauth/resource_indicators/granted",
      "oauth/scope/granted-as-asked",
    ],
    mayBreak: { "Each asks for a token, or how its code is refused": ["oauth/"] },
    stops: "No client gets a token of a user",
  },
  {
    name: "oauth/codes-with-secrets-only",
    fault: "Gives tokens for codes to clients with a secret alone",
    wrap: refused((form, request) =>
      isCode(form) && !form.has("client_secret") && !request.headers.has("authorization") &&
      !form.has("client_assertion")
    ),
    breaks: [...code("redeemed", "redirect-uri-never-sent"), ...pkce("s256", "example-of-appendix-b")],
    mayBreak: { "Each asks for a token as a public client, or how its code is refused": ["oauth/"] },
    stops: "No public client gets a token",
  },
  {
    name: "oauth/pkce-with-secret-refused",
    fault: "Takes no challenge from clients with a secret",
    wrap: refused((form, request) =>
      isCode(form) && request.headers.has("authorization") && form.has("code_verifier")
    ),
    breaks: [...auth("basic"), "oauth/best_practice/confidential-with-challenge", ...refresh("with-secret")],
    mayBreak: { "Their client has a secret and a challenge": ["oauth/"] },
    stops: "A client with a secret and a challenge gets no token",
  },
  {
    name: "oauth/pkce-long-verifier-refused",
    fault: "Takes no verifier of more than a hundred characters",
    wrap: refused((form) => verifierOf(form).length > 100),
    breaks: pkce("longest-verifier"),
  },
  {
    name: "oauth/pkce-verifier-like-base64",
    fault: "Takes verifiers for base64url, which has neither dots nor tildes",
    wrap: refused((form) => /[.~]/.test(verifierOf(form))),
    breaks: pkce("all-characters"),
  },
  {
    name: "oauth/secret-in-field-overlooked",
    fault: "Does not read HTTP Basic at the token endpoint",
    wrap: faultyRequests(
      TOKEN,
      (request) =>
        readBasic(request.headers.get("authorization"))
          ? withRequestFields(request, { authorization: undefined })
          : request,
    ),
    breaks: [
      ...auth("basic"),
      "oauth/metadata/client-authentication-basic",
      "oauth/client_credentials/scope-asked",
    ],
    mayBreak: { "Their clients prove themselves by HTTP Basic": ["oauth/"] },
    stops: "No client that proves itself by HTTP Basic gets a token",
  },
  {
    name: "oauth/secret-in-body-overlooked",
    fault: "Does not read secrets in bodies",
    wrap: faultyForms(TOKEN, (form) => form.delete("client_secret")),
    breaks: auth("post", "odd-secret-in-body"),
    mayBreak: {
      "They prove themselves in the body, or twice": [...auth(""), ...endpoint("repeated-client-secret")],
    },
    stops: "No client that proves itself in the body gets a token",
  },
  {
    name: "oauth/secret-in-body-not-decoded",
    fault: "Takes plus signs in bodies for plus signs",
    wrap: faultyForms(TOKEN, (form) => {
      const secret = form.get("client_secret");
      if (secret?.includes(" ")) form.set("client_secret", secret.replaceAll(" ", "+"));
    }),
    breaks: auth("odd-secret-in-body"),
  },
  {
    name: "oauth/refresh-with-secret-refused",
    fault: "Refreshes for public clients alone",
    wrap: refused((form, request) => isRefresh(form) && request.headers.has("authorization")),
    breaks: refresh("with-secret"),
    mayBreak: { "Their client has a secret, and refreshes": ["oauth/"] },
    stops: "A client with a secret gets nothing for refresh tokens",
  },
  {
    name: "oauth/refresh-gives-nothing-of-worth",
    fault: "Answers refresh tokens with access tokens that it does not know",
    wrap: at(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      if (!form || !isRefresh(form)) return await next(request);
      const name = (json: Record<string, unknown>): void => {
        if ("access_token" in json) json["access_token"] = `trivet_at_${crypto.randomUUID()}`;
      };
      return await faultyJson(TOKEN, name)(next)(request);
    }),
    breaks: refresh("new-token-works"),
    mayBreak: {
      "They use what a refresh token gave": [
        "oauth/refresh/",
        "oauth/resource_indicators/",
        "oauth/revocation/",
      ],
    },
  },
  {
    name: "oauth/refresh-first-scope",
    fault: "Grants the first of several scopes",
    wrap: firstScope(),
    breaks: [...refresh("same-scope"), "oauth/scope/in-any-order"],
    mayBreak: { "They ask for several scopes": ["oauth/"] },
  },
  {
    name: "oauth/refresh-same-for-all",
    fault: "Gives every grant of a client the refresh token of its first",
    wrap: at(TOKEN, oneRefreshToken),
    breaks: refresh("entropy"),
    mayBreak: { "The first grant is used up, or not theirs": ["oauth/"] },
    stops: "The first grant is used up, or was asked for something else",
  },
  {
    name: "oauth/refresh-not-printable",
    fault: "Gives refresh tokens with letters that no header field may hold",
    wrap: (next) =>
      faultyJson(TOKEN, (json) => {
        if (typeof json["refresh_token"] === "string") json["refresh_token"] = `ü${json["refresh_token"]}`;
      })(plainTokens(next)),
    breaks: endpoint("granted-refresh-token"),
    mayBreak: { "They send a refresh token where another is meant": ["oauth/"] },
  },
  {
    name: "oauth/tokens-good-for-nothing",
    fault: "Refuses every access token at a resource",
    wrap: at(RESOURCE, (next) => async (request) => {
      const answer = await next(request);
      return answer.status === 200
        ? withFields(Response.json({}), { "www-authenticate": 'Bearer error="invalid_token"' }, 401)
        : answer;
    }),
    breaks: [
      "oauth/bearer/accepted",
      ...refresh("new-token-works"),
      "oauth/resource_indicators/accepted-there",
      "oauth/revocation/access-token-of-another-client",
    ],
    mayBreak: { "They see that a token works, or that it did before": ["oauth/"] },
    stops: "They begin with a token that works",
  },
  {
    name: "oauth/bearer-body",
    fault: "Takes tokens from bodies, and does not say so",
    wrap: faultyRequests(RESOURCE, async (request) => {
      const token = (await readForm(request))?.get("access_token");
      return token ? new Request(request.url, { headers: { authorization: `Bearer ${token}` } }) : request;
    }),
    breaks: ["oauth/bearer/in-body-refused"],
  },
  {
    name: "oauth/token-fault-without-media-type",
    fault: "Fails on bodies without media type",
    wrap: failing((request) => !request.headers.get("content-type")),
    breaks: endpoint("without-media-type"),
    mayBreak: { "They have no body, and no media type": endpoint("get", "method-") },
  },
  {
    name: "oauth/token-fault-on-long-bodies",
    fault: "Fails on bodies of more than a MB",
    wrap: failing((_, text) => text.length > 1e6),
    breaks: endpoint("body-of-2-mb"),
    mayBreak: { "It sends one first": endpoint("after-a-body-of-2-mb") },
  },
  {
    name: "oauth/token-fault-on-many-parameters",
    fault: "Fails on more parameters than it thought of",
    wrap: failing((_, text) => text.split("&").length > 1000),
    breaks: endpoint("ten-thousand-parameters"),
  },
];

function failing(isTooMuch: (request: Request, text: string) => boolean): Wrap {
  return at(TOKEN, (next) => async (request) => {
    const isFault = isTooMuch(request, await request.clone().text());
    return isFault ? new Response("Internal Server Error", { status: 500 }) : await next(request);
  });
}

/** Of scopes that a token request or its grant has, the first. */
function firstScope(): Wrap {
  return faultyJson(TOKEN, (json) => {
    if (typeof json["scope"] === "string") json["scope"] = json["scope"].split(" ")[0];
  });
}

function oneRefreshToken(next: Handler): Handler {
  const first = new Map<string, unknown>();
  return async (request) => {
    const form = await readForm(request);
    const client = form && isCode(form) ? form.get("client_id") : null;
    if (client === null) return await next(request);
    return await faultyJson(TOKEN, (json) => {
      if (!("refresh_token" in json)) return;
      json["refresh_token"] = first.get(client) ?? json["refresh_token"];
      first.set(client, json["refresh_token"]);
    })(next)(request);
  };
}

/** Takes the tokens of `refresh-not-printable` back. */
function plainTokens(next: Handler): Handler {
  return async (request) => {
    const form = await readForm(request);
    if (!form || pathOf(request) === LOGIN) return await next(request);
    let isChanged = false;
    for (const name of ["refresh_token", "token", "subject_token"]) {
      const all = form.getAll(name);
      if (all.length !== 1 || !all[0]!.startsWith("ü")) continue;
      form.set(name, all[0]!.slice(1));
      isChanged = true;
    }
    return await next(isChanged ? withForm(request, form) : request);
  };
}
