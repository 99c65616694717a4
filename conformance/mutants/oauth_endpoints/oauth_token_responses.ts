/**
 * Faults in responses of the token endpoint: errors and tokens.
 *
 * @module
 */
import { changeJson, changeResponses, onPath, TOKEN, withBody, withHeaders } from "../http_faults.ts";
import type { Handler, Mutant } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/token_endpoint/${id}`);

/** They check the types of the members of a response with a token. */
const TYPED: readonly string[] = [
  ...names("granted"),
  "oauth/client_credentials/granted",
  "oauth/device/allowed",
  "oauth/jwt_bearer/good",
  "oauth/refresh/refreshed",
  "oauth/token_exchange/exchanged",
];

const isGranted = (json: Record<string, unknown>): boolean => "access_token" in json;

export const TOKEN_RESPONSES: readonly Mutant[] = [
  {
    name: "oauth/errors-with-200",
    fault: "Returns errors with status 200",
    wrap: changeResponses(TOKEN, (answer) => answer.status === 400 ? withHeaders(answer, {}, 200) : answer),
    killedBy: names("error-status", "grant-type-missing"),
    mayFailWith: {
      "They expect the status of an error": /^status: expected .*, got 200|"status":200,"json":\{"error"/,
    },
  },
  {
    name: "oauth/errors-as-text",
    fault: "Returns errors as text/plain",
    wrap: changeResponses(
      TOKEN,
      (answer) => answer.status === 400 ? withHeaders(answer, { "content-type": "text/plain" }) : answer,
    ),
    killedBy: names("error-media-type"),
    mayFail: {
      "They check the media type of an error": [
        "oauth/token_endpoint/error-is-json",
        "oauth/token_endpoint/extension-error",
      ],
    },
  },
  {
    name: "oauth/errors-echo",
    fault: "Repeats request parameters in error_description",
    wrap: onPath(TOKEN, (next) => async (request) => {
      const sent = request.method === "POST" ? await request.clone().text() : "";
      const echo = changeJson(TOKEN, (json) => {
        if (typeof json["error"] === "string") json["error_description"] = decode(sent);
      });
      return await echo(next)(request);
    }),
    killedBy: names("error-characters"),
  },
  {
    name: "oauth/errors-invented",
    fault: "Returns error codes that are not in the RFC",
    wrap: changeJson(TOKEN, (json) => {
      if (json["error"] === "invalid_grant") json["error"] = "bad_grant";
    }),
    killedBy: ["oauth/code/unknown", "oauth/refresh/unknown"],
    mayFailWith: { "They expect invalid_grant": /"bad_grant"/ },
  },
  {
    name: "oauth/errors-with-tokens",
    fault: "Returns access_token in error responses",
    wrap: changeJson(TOKEN, (json) => {
      if ("error" in json) json["access_token"] = null;
    }),
    killedBy: names("refusal-has-no-tokens"),
    mayFailWith: { "They expect no token": /^json\.access_token: .*got null|"access_token":null/ },
  },
  {
    name: "oauth/tokens-cached",
    fault: "Lets caches store tokens",
    wrap: changeResponses(
      TOKEN,
      (answer) => withHeaders(answer, { "cache-control": "private, max-age=60", pragma: undefined }),
    ),
    killedBy: [
      ...names("granted-not-cached", "granted-not-cached-by-old-caches", "error-not-cached"),
      "oauth/client_credentials/not-cached",
    ],
    mayFail: {
      "They check what caches may keep": ["oauth/caching/"],
    },
  },
  {
    name: "oauth/tokens-as-html",
    fault: "Returns tokens as text/html",
    wrap: changeResponses(
      TOKEN,
      (answer) => answer.status === 200 ? withHeaders(answer, { "content-type": "text/html" }) : answer,
    ),
    killedBy: names("granted-media-type"),
    mayFail: { "They check the media type of a token response": ["oauth/token_exchange/exchanged"] },
  },
  {
    name: "oauth/tokens-as-sequence",
    fault: "Returns tokens as application/json-seq",
    wrap: changeResponses(
      TOKEN,
      (answer) =>
        answer.status === 200 ? withHeaders(answer, { "content-type": "application/json-seq" }) : answer,
    ),
    killedBy: names("granted-media-type"),
  },
  {
    name: "oauth/tokens-without-type",
    fault: "Leaves token_type out",
    wrap: changeJson(TOKEN, (json) => delete json["token_type"]),
    killedBy: names("granted"),
    mayFailWith: { "They read the type of a token": /^json\.token_type: .*got no value/ },
  },
  {
    name: "oauth/tokens-lifetime-as-string",
    fault: "Returns expires_in as a string",
    wrap: changeJson(TOKEN, (json) => isGranted(json) && (json["expires_in"] = String(json["expires_in"]))),
    killedBy: TYPED,
    mayFail: {
      "They read the lifetime of a token": [
        "oauth/token_endpoint/granted-lifetime",
        "oauth/token_exchange/lifetime-told",
      ],
    },
  },
  {
    name: "oauth/tokens-scope-as-list",
    fault: "Returns scope as a list",
    wrap: changeJson(TOKEN, (json) => {
      if (isGranted(json)) json["scope"] = String(json["scope"] ?? "").split(" ");
    }),
    killedBy: TYPED,
    mayFailWith: { "They read the scope of a token": /^json\.scope: / },
  },
  {
    name: "oauth/tokens-lifetime-omitted",
    fault: "Leaves expires_in out",
    wrap: changeJson(TOKEN, (json) => delete json["expires_in"]),
    killedBy: names("granted-lifetime"),
    mayFail: { "They read the lifetime of a token": ["oauth/token_exchange/lifetime-told"] },
  },
  {
    name: "oauth/tokens-duplicate-member",
    fault: "Returns a JSON member twice",
    wrap: changeResponses(TOKEN, async (answer) => {
      const text = await answer.text();
      return withBody(answer, text.replace('{"access_token":', '{"access_token":"x","access_token":'));
    }),
    killedBy: names("granted-members-once"),
  },
  {
    name: "oauth/tokens-sequential",
    fault: "Numbers access tokens in place of random values",
    wrap: numberTokens,
    killedBy: names("granted-entropy-of-128-bits", "granted-entropy-of-160-bits"),
    mayFail: {
      "They use the token": [
        "oauth/step_up/introspection",
        "oauth/step_up/jwt",
        "oauth/step_up/refresh-keeps-them",
      ],
      "They check what caches may keep": ["oauth/caching/exchanged"],
      "They send values that resemble the right ones": ["oauth/letter_case/access-token"],
      "Other endpoints do not know the token's number": [
        "oauth/authorization_details/exchanged",
        "oauth/bearer/audience",
        "oauth/bearer/revoked",
        "oauth/best_practice/service-is-no-user",
        "oauth/client_credentials/sixteen-at-once",
        "oauth/dpop/introspected",
        "oauth/dpop/resource-proof-twice",
        "oauth/dpop/scheme-in-any-case",
        "oauth/dpop/used",
        "oauth/introspection/",
        "oauth/jwt_access_token/",
        "oauth/mutual_tls/",
        "oauth/resource_indicators/",
        "oauth/revocation/access-token",
        "oauth/revocation/hint-wrong-for-access-token",
        "oauth/revocation/without-secret",
        "oauth/revocation/wrong-secret",
        "oauth/token_exchange/",
        "oauth/authorization_details/introspected",
        "oauth/authorization_details/in-the-jwt",
        "oauth/signed_introspection/answer",
        "oauth/signed_introspection/json-as-before",
      ],
    },
  },
  {
    name: "oauth/client-credentials-refresh",
    fault: "Issues refresh tokens for client_credentials",
    wrap: changeJson(TOKEN, (json) => isGranted(json) && (json["refresh_token"] ??= "trivet_rt_x")),
    killedBy: ["oauth/client_credentials/no-refresh-token"],
    mayFail: {
      "They expect no refresh token": [
        "oauth/best_practice/no-refresh-token-without-the-grant",
      ],
    },
  },
  {
    name: "oauth/scope-omitted",
    fault: "Leaves scope out of token responses",
    wrap: changeJson(TOKEN, (json) => delete json["scope"]),
    killedBy: ["oauth/scope/left-out-is-told", "oauth/client_credentials/scope-partly-unknown"],
    mayFailWith: { "They read which scope was granted": /^json\.scope: .*got no value/ },
  },
];

function numberTokens(next: Handler): Handler {
  const known = new Map<string, string>();
  return async (request) => {
    const name = /^bearer (\d+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const headers = new Headers(request.headers);
    if (known.has(name ?? "")) headers.set("authorization", `Bearer ${known.get(name!)}`);
    const shorten = changeJson(TOKEN, (json) => {
      if (!isGranted(json)) return;
      const number = String(10_000 + known.size);
      known.set(number, String(json["access_token"]));
      json["access_token"] = number;
    });
    return await shorten(next)(new Request(request, { headers }));
  };
}

function decode(form: string): string {
  return [...new URLSearchParams(form).values()].join(" ");
}
