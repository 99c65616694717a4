/**
 * Faults that refuse valid requests.
 *
 * @module
 */
import {
  changeForms,
  changeJson,
  changeRequests,
  LOGIN,
  onPath,
  pathOf,
  readForm,
  RESOURCE,
  TOKEN,
  withForm,
  withHeaders,
  withRequestHeaders,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { parseBasic } from "../registered_clients.ts";

const code = (...ids: string[]): string[] => ids.map((id) => `oauth/code/${id}`);
const pkce = (...ids: string[]): string[] => ids.map((id) => `oauth/pkce/${id}`);
const auth = (...ids: string[]): string[] => ids.map((id) => `oauth/client_authentication/${id}`);
const refresh = (...ids: string[]): string[] => ids.map((id) => `oauth/refresh/${id}`);
const endpoint = (...ids: string[]): string[] => ids.map((id) => `oauth/token_endpoint/${id}`);

/** Refuses token requests that match `isRefused`. */
const refuseTokens = (
  isRefused: (form: URLSearchParams, request: Request) => boolean,
  status = 400,
): Wrap =>
  onPath(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    if (!form || !isRefused(form, request)) return await next(request);
    return Response.json({ error: "invalid_grant" }, { status });
  });

const isCode = (form: URLSearchParams): boolean => form.get("grant_type") === "authorization_code";
const isRefresh = (form: URLSearchParams): boolean => form.get("grant_type") === "refresh_token";
const verifierOf = (form: URLSearchParams): string => form.get("code_verifier") ?? "";

export const REFUSALS: readonly Mutant[] = [
  {
    name: "oauth/codes-refused",
    fault: "Refuses every authorization code",
    wrap: refuseTokens(isCode),
    killedBy: [
      ...code("redeemed", "redirect-uri-never-sent"),
      ...pkce("s256", "example-of-appendix-b"),
      ...auth("basic", "post"),
      "oauth/best_practice/confidential-with-challenge",
      "oauth/resource_indicators/granted",
      "oauth/scope/granted-as-asked",
    ],
    mayFail: { "They redeem a code": ["oauth/"] },
    preventsSetup: "No client gets a user's token",
  },
  {
    name: "oauth/codes-with-secrets-only",
    fault: "Refuses authorization codes of public clients",
    wrap: refuseTokens((form, request) =>
      isCode(form) && !form.has("client_secret") && !request.headers.has("authorization") &&
      !form.has("client_assertion")
    ),
    killedBy: [...code("redeemed", "redirect-uri-never-sent"), ...pkce("s256", "example-of-appendix-b")],
    mayFail: { "They redeem a code as a public client": ["oauth/"] },
    preventsSetup: "No public client gets a token",
  },
  {
    name: "oauth/pkce-with-secret-refused",
    fault: "Refuses code_verifier from clients with a secret",
    wrap: refuseTokens((form, request) =>
      isCode(form) && request.headers.has("authorization") && form.has("code_verifier")
    ),
    killedBy: [
      ...auth("basic"),
      "oauth/best_practice/confidential-with-challenge",
    ],
    mayFail: { "Their client has a secret and a challenge": ["oauth/"] },
    preventsSetup: "A client with a secret and a challenge gets no token",
  },
  {
    name: "oauth/pkce-long-verifier-refused",
    fault: "Refuses verifiers of more than 100 characters",
    wrap: refuseTokens((form) => verifierOf(form).length > 100),
    killedBy: pkce("longest-verifier"),
  },
  {
    name: "oauth/pkce-verifier-like-base64",
    fault: "Refuses dots and tildes in verifiers",
    wrap: refuseTokens((form) => /[.~]/.test(verifierOf(form))),
    killedBy: pkce("all-characters"),
  },
  {
    name: "oauth/basic-ignored",
    fault: "Ignores HTTP Basic at the token endpoint",
    wrap: changeRequests(
      TOKEN,
      (request) =>
        parseBasic(request.headers.get("authorization"))
          ? withRequestHeaders(request, { authorization: undefined })
          : request,
    ),
    killedBy: [
      ...auth("basic"),
      "oauth/metadata/client-authentication-basic",
      "oauth/client_credentials/scope-asked",
    ],
    mayFail: { "Their clients authenticate with HTTP Basic": ["oauth/"] },
    preventsSetup: "No client that uses HTTP Basic gets a token",
  },
  {
    name: "oauth/secret-in-body-ignored",
    fault: "Ignores client_secret in the body",
    wrap: changeForms(TOKEN, (form) => form.delete("client_secret")),
    killedBy: auth("post", "odd-secret-in-body"),
    mayFail: {
      "They authenticate in the body, or twice": [...auth(""), ...endpoint("repeated-client-secret")],
    },
    preventsSetup: "No client that authenticates in the body gets a token",
  },
  {
    name: "oauth/secret-in-body-not-decoded",
    fault: "Does not decode plus signs in the body",
    wrap: changeForms(TOKEN, (form) => {
      const secret = form.get("client_secret");
      if (secret?.includes(" ")) form.set("client_secret", secret.replaceAll(" ", "+"));
    }),
    killedBy: auth("odd-secret-in-body"),
  },
  {
    name: "oauth/refresh-with-secret-refused",
    fault: "Refuses refresh tokens of clients with a secret",
    wrap: refuseTokens((form, request) => isRefresh(form) && request.headers.has("authorization")),
    killedBy: refresh("with-secret"),
    mayFail: { "Their client has a secret and uses a refresh token": ["oauth/"] },
    preventsSetup: "A client with a secret cannot refresh",
  },
  {
    name: "oauth/refresh-unusable-token",
    fault: "Issues unusable access tokens for refresh tokens",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      if (!form || !isRefresh(form)) return await next(request);
      const name = (json: Record<string, unknown>): void => {
        if ("access_token" in json) json["access_token"] = `trivet_at_${crypto.randomUUID()}`;
      };
      return await changeJson(TOKEN, name)(next)(request);
    }),
    killedBy: refresh("new-token-works"),
    mayFail: {
      "It uses the refreshed token": ["oauth/step_up/refresh-keeps-them"],
      "They use the tokens of a refresh": [
        "oauth/refresh/",
        "oauth/resource_indicators/",
        "oauth/revocation/",
      ],
    },
  },
  {
    name: "oauth/refresh-first-scope",
    fault: "Reports only the first of several scopes",
    wrap: reportFirstScope(),
    killedBy: [...refresh("same-scope"), "oauth/scope/in-any-order"],
    mayFail: { "They request several scopes": ["oauth/"] },
  },
  {
    name: "oauth/refresh-same-for-all",
    fault: "Issues one refresh token for all grants of a client",
    wrap: onPath(TOKEN, reuseRefreshToken),
    killedBy: refresh("entropy"),
    mayFail: { "The first grant is revoked or belongs to another vector": ["oauth/"] },
    preventsSetup: "The first grant is revoked or has other parameters",
  },
  {
    name: "oauth/refresh-not-printable",
    fault: "Issues refresh tokens with characters beyond ASCII",
    wrap: (next) =>
      changeJson(TOKEN, (json) => {
        if (typeof json["refresh_token"] === "string") json["refresh_token"] = `ü${json["refresh_token"]}`;
      })(restoreTokens(next)),
    killedBy: endpoint("granted-refresh-token"),
    mayFail: { "They send a refresh token as another parameter": ["oauth/"] },
  },
  {
    name: "oauth/tokens-refused",
    fault: "Refuses every access token at the resource",
    wrap: onPath(RESOURCE, (next) => async (request) => {
      const answer = await next(request);
      return answer.status === 200
        ? withHeaders(Response.json({}), { "www-authenticate": 'Bearer error="invalid_token"' }, 401)
        : answer;
    }),
    killedBy: [
      "oauth/bearer/accepted",
      ...refresh("new-token-works"),
      "oauth/resource_indicators/accepted-there",
      "oauth/revocation/access-token-of-another-client",
    ],
    mayFail: { "They check that a token works": ["oauth/"] },
    preventsSetup: "They begin with a valid token",
  },
  {
    name: "oauth/bearer-body",
    fault: "Accepts tokens in the body without declaring it",
    wrap: changeRequests(RESOURCE, async (request) => {
      const token = (await readForm(request))?.get("access_token");
      return token ? new Request(request.url, { headers: { authorization: `Bearer ${token}` } }) : request;
    }),
    killedBy: ["oauth/bearer/in-body-refused"],
  },
  {
    name: "oauth/token-fails-without-media-type",
    fault: "Fails on bodies without a media type",
    wrap: failOn((request) => !request.headers.get("content-type")),
    killedBy: endpoint("without-media-type"),
    mayFail: { "They send no body and no media type": endpoint("get", "method-") },
  },
  {
    name: "oauth/token-fails-on-long-bodies",
    fault: "Fails on bodies of more than 1 MB",
    wrap: failOn((_, text) => text.length > 1e6),
    killedBy: endpoint("body-of-2-mb"),
    mayFail: { "It sends a long body first": endpoint("after-a-body-of-2-mb") },
  },
  {
    name: "oauth/token-fails-on-many-parameters",
    fault: "Fails on more than 1000 parameters",
    wrap: failOn((_, text) => text.split("&").length > 1000),
    killedBy: endpoint("ten-thousand-parameters"),
  },
];

function failOn(isTooMuch: (request: Request, text: string) => boolean): Wrap {
  return onPath(TOKEN, (next) => async (request) => {
    const isFault = isTooMuch(request, await request.clone().text());
    return isFault ? new Response("Internal Server Error", { status: 500 }) : await next(request);
  });
}

/** Reports only the first scope. */
function reportFirstScope(): Wrap {
  return changeJson(TOKEN, (json) => {
    if (typeof json["scope"] === "string") json["scope"] = json["scope"].split(" ")[0];
  });
}

function reuseRefreshToken(next: Handler): Handler {
  const first = new Map<string, unknown>();
  return async (request) => {
    const form = await readForm(request);
    const client = form && isCode(form) ? form.get("client_id") : null;
    if (client === null) return await next(request);
    return await changeJson(TOKEN, (json) => {
      if (!("refresh_token" in json)) return;
      json["refresh_token"] = first.get(client) ?? json["refresh_token"];
      first.set(client, json["refresh_token"]);
    })(next)(request);
  };
}

/** Restores the tokens that `refresh-not-printable` changed. */
function restoreTokens(next: Handler): Handler {
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
