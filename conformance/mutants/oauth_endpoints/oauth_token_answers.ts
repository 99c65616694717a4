/**
 * Faults of what the token endpoint answers: errors and tokens.
 *
 * @module
 */
import { at, faultyAnswers, faultyJson, TOKEN, withBody, withFields } from "../message.ts";
import type { Handler, Mutant } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/token_endpoint/${id}`);

const GRANTED = (json: Record<string, unknown>): boolean => "access_token" in json;

export const TOKEN_ANSWERS: readonly Mutant[] = [
  {
    name: "oauth/errors-with-200",
    fault: "Says errors with status 200",
    wrap: faultyAnswers(TOKEN, (answer) => answer.status === 400 ? withFields(answer, {}, 200) : answer),
    breaks: names("error-status", "grant-type-missing"),
    mayBreak: {
      "Each is refused by the token endpoint": [
        "oauth/best_practice/challenge-then-no-verifier",
        "oauth/best_practice/sender-constraint-not-dropped",
        "oauth/best_practice/verifier-without-challenge",
        "oauth/client_assertion/two",
        "oauth/client_authentication/",
        "oauth/client_credentials/",
        "oauth/client_management/deleted-secret",
        "oauth/code/",
        "oauth/device/",
        "oauth/dpop/",
        "oauth/metadata/grant-type-unlisted",
        "oauth/par/challenge-beside-it",
        "oauth/password/not-offered",
        "oauth/pkce/",
        "oauth/refresh/",
        "oauth/resource_indicators/",
        "oauth/revocation/",
        "oauth/token_endpoint/",
        "oauth/token_exchange/",
        "oauth/authorization_details/more-at-the-token-endpoint",
        "oauth/authorization_details/more-at-refresh",
        "oauth/authorization_details/at-the-token-endpoint-only",
      ],
    },
  },
  {
    name: "oauth/errors-as-text",
    fault: "Says errors as plain text",
    wrap: faultyAnswers(
      TOKEN,
      (answer) => answer.status === 400 ? withFields(answer, { "content-type": "text/plain" }) : answer,
    ),
    breaks: names("error-media-type"),
    mayBreak: {
      "They read the media type of a refusal": [
        "oauth/token_endpoint/error-is-json",
        "oauth/token_endpoint/extension-error",
      ],
    },
  },
  {
    name: "oauth/errors-echo",
    fault: "Repeats in errors what it was sent",
    wrap: at(TOKEN, (next) => async (request) => {
      const sent = request.method === "POST" ? await request.clone().text() : "";
      const echo = faultyJson(TOKEN, (json) => {
        if (typeof json["error"] === "string") json["error_description"] = decode(sent);
      });
      return await echo(next)(request);
    }),
    breaks: names("error-characters"),
  },
  {
    name: "oauth/errors-invented",
    fault: "Has error codes of its own",
    wrap: faultyJson(TOKEN, (json) => {
      if (json["error"] === "invalid_grant") json["error"] = "bad_grant";
    }),
    breaks: ["oauth/code/unknown", "oauth/refresh/unknown"],
    mayBreak: {
      "Each is refused with invalid_grant": [
        "oauth/best_practice/challenge-then-no-verifier",
        "oauth/best_practice/verifier-without-challenge",
        "oauth/client_management/deleted-secret",
        "oauth/code/",
        "oauth/device/code-of-another",
        "oauth/device/code-unknown",
        "oauth/device/user-code-is-no-device-code",
        "oauth/par/challenge-beside-it",
        "oauth/pkce/",
        "oauth/refresh/",
        "oauth/revocation/",
        "oauth/token_endpoint/error-media-type",
        "oauth/token_endpoint/error-status",
        "oauth/token_endpoint/plus-is-a-blank",
        "oauth/token_endpoint/refusal-has-no-tokens",
      ],
    },
  },
  {
    name: "oauth/errors-with-tokens",
    fault: "Puts a token into refusals",
    wrap: faultyJson(TOKEN, (json) => {
      if ("error" in json) json["access_token"] = null;
    }),
    breaks: names("refusal-has-no-tokens"),
    mayBreak: {
      "Each is refused by the token endpoint": [
        "oauth/best_practice/challenge-then-no-verifier",
        "oauth/best_practice/sender-constraint-not-dropped",
        "oauth/best_practice/verifier-without-challenge",
        "oauth/client_assertion/",
        "oauth/client_authentication/",
        "oauth/client_credentials/",
        "oauth/clients/confidential-stays-confidential",
        "oauth/code/",
        "oauth/device/",
        "oauth/dpop/",
        "oauth/metadata/grant-type-unlisted",
        "oauth/metadata/token-endpoint-works",
        "oauth/par/challenge-beside-it",
        "oauth/password/not-offered",
        "oauth/pkce/",
        "oauth/refresh/",
        "oauth/resource_indicators/",
        "oauth/revocation/",
        "oauth/token_endpoint/",
        "oauth/token_exchange/",
        "oauth/authorization_details/more-at-the-token-endpoint",
        "oauth/authorization_details/more-at-refresh",
        "oauth/authorization_details/at-the-token-endpoint-only",
      ],
    },
  },
  {
    name: "oauth/tokens-cached",
    fault: "Lets caches keep tokens",
    wrap: faultyAnswers(
      TOKEN,
      (answer) => withFields(answer, { "cache-control": "private, max-age=60", pragma: undefined }),
    ),
    breaks: [
      ...names("granted-not-cached", "granted-not-cached-by-old-caches", "error-not-cached"),
      "oauth/client_credentials/not-cached",
    ],
  },
  {
    name: "oauth/tokens-as-text",
    fault: "Gives tokens as text/html",
    wrap: faultyAnswers(
      TOKEN,
      (answer) => answer.status === 200 ? withFields(answer, { "content-type": "text/html" }) : answer,
    ),
    breaks: names("granted-media-type"),
    mayBreak: { "They read the media type of a grant": ["oauth/token_exchange/exchanged"] },
  },
  {
    name: "oauth/tokens-without-type",
    fault: "Leaves out the type of tokens",
    wrap: faultyJson(TOKEN, (json) => delete json["token_type"]),
    breaks: names("granted"),
    mayBreak: {
      "They read the type of a token": [
        "oauth/best_practice/sender-constrained",
        "oauth/client_credentials/granted",
        "oauth/device/",
        "oauth/dpop/",
        "oauth/refresh/refreshed",
        "oauth/token_exchange/exchanged",
      ],
    },
  },
  {
    name: "oauth/tokens-lifetime-as-text",
    fault: "Gives lifetimes as text",
    wrap: faultyJson(TOKEN, (json) => GRANTED(json) && (json["expires_in"] = String(json["expires_in"]))),
    breaks: names("granted"),
    mayBreak: {
      "They read the lifetime of a token": [
        "oauth/token_endpoint/granted-lifetime",
        "oauth/token_exchange/lifetime-told",
      ],
    },
  },
  {
    name: "oauth/tokens-lifetime-untold",
    fault: "Does not tell how long tokens live",
    wrap: faultyJson(TOKEN, (json) => delete json["expires_in"]),
    breaks: names("granted-lifetime"),
    mayBreak: { "They read the lifetime of a token": ["oauth/token_exchange/lifetime-told"] },
  },
  {
    name: "oauth/tokens-twice-named",
    fault: "Names a member twice",
    wrap: faultyAnswers(TOKEN, async (answer) => {
      const text = await answer.text();
      return withBody(answer, text.replace('{"access_token":', '{"access_token":"x","access_token":'));
    }),
    breaks: names("granted-members-once"),
  },
  {
    name: "oauth/tokens-numbered",
    fault: "Counts its access tokens",
    wrap: numberedTokens,
    breaks: names("granted-entropy-of-128-bits", "granted-entropy-of-160-bits"),
    mayBreak: {
      "A token's number is none at other endpoints": [
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
    fault: "Gives refresh tokens to clients that act for themselves",
    wrap: faultyJson(TOKEN, (json) => GRANTED(json) && (json["refresh_token"] ??= "trivet_rt_x")),
    breaks: ["oauth/client_credentials/no-refresh-token"],
    mayBreak: {
      "They look for a refresh token that is not there": [
        "oauth/best_practice/no-refresh-token-without-the-grant",
      ],
    },
  },
  {
    name: "oauth/scope-untold",
    fault: "Does not tell which scope it granted",
    wrap: faultyJson(TOKEN, (json) => delete json["scope"]),
    breaks: ["oauth/scope/left-out-is-told", "oauth/client_credentials/scope-partly-unknown"],
    mayBreak: { "They read which scope was granted": ["oauth/client_credentials/scope-told"] },
  },
];

function numberedTokens(next: Handler): Handler {
  const known = new Map<string, string>();
  return async (request) => {
    const name = /^bearer (\d+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const headers = new Headers(request.headers);
    if (known.has(name ?? "")) headers.set("authorization", `Bearer ${known.get(name!)}`);
    const shorten = faultyJson(TOKEN, (json) => {
      if (!GRANTED(json)) return;
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
