/**
 * Faults of a resource, and in responses, against the FAPI 2.0 Security Profile.
 *
 * @module
 */
import { acceptRefused, type Refused } from "../accept_refused.ts";
import {
  AUTHORIZE,
  changeJson,
  changeRedirects,
  changeResponses,
  KEYS,
  LOGIN,
  onPath,
  PUSH,
  RESOURCE,
  TOKEN,
  withHeaders,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { changeIdToken } from "../oauth_endpoints/oauth_openid.ts";
import { fapi, flow } from "./oauth_fapi.ts";

const BEYOND = "/v1/skills";
const acceptTokens = (isAccepted: (refused: Refused) => boolean): Wrap =>
  acceptRefused(RESOURCE, isAccepted, () => Response.json({}));

const resource: readonly Mutant[] = [
  fapi(
    "resource-any-possession",
    "The resource does not check what tokens are bound to",
    acceptTokens(({ description }) => /bound/.test(description)),
    flow("token-as-bearer", "token-of-another-key"),
  ),
  fapi(
    "resource-any-token",
    "The resource accepts unknown, expired and revoked tokens",
    acceptTokens(({ error, description }) => error === "invalid_token" && !/bound/.test(description)),
    flow("altered-token", "expired-token", "revoked-token"),
  ),
  fapi(
    "resource-query",
    "The resource accepts tokens in the query",
    acceptTokens(({ request }) => new URL(request.url).searchParams.has("access_token")),
    flow("token-in-the-query"),
  ),
  fapi(
    "resource-refuses",
    "The resource refuses every token",
    onPath(RESOURCE, () => () => Promise.resolve(new Response(null, { status: 401 }))),
    flow("token-in-the-header"),
  ),
  fapi(
    "resource-any-scope",
    "The resource does not check scopes",
    acceptRefused(BEYOND, ({ status }) => status === 403, () => Response.json({})),
    flow("insufficient-scope"),
  ),
];

const responses: readonly Mutant[] = [
  fapi(
    "token-type",
    "Calls bound tokens bearer tokens",
    changeJson(TOKEN, (json) => json["token_type"] === "DPoP" && (json["token_type"] = "Bearer")),
    flow("complete"),
  ),
  fapi(
    "id-token-rs256",
    "Names RS256 in the ID token",
    changeIdToken((_, header) => header["alg"] = "RS256"),
    flow("id-token"),
    { mayFail: { "It reads an ID token": flow("long-nonce") } },
  ),
  fapi(
    "short-nonce",
    "Keeps 32 characters of the nonce",
    changeIdToken((claims) => claims["nonce"] &&= String(claims["nonce"]).slice(0, 32)),
    flow("long-nonce"),
    { mayFail: { "The signature does not match the changed bytes": flow("id-token") } },
  ),
  fapi(
    "rotation",
    "Rotates refresh tokens",
    changeJson(TOKEN, (json) => {
      if (typeof json["refresh_token"] === "string") json["refresh_token"] += String(Math.random());
    }),
    flow("refresh-token-stays"),
    {
      preventsSetup: "The changed token is unknown",
      mayFail: { "It refreshes": flow("refresh-token-stays") },
    },
  ),
  fapi(
    "long-request-uri",
    "Keeps pushed requests for ten minutes",
    changeJson(PUSH, (json) => json["expires_in"] !== undefined && (json["expires_in"] = 600)),
    flow("request-uri-lifetime"),
  ),
  fapi(
    "no-issuer",
    "Leaves iss out of authorization responses",
    changeRedirects(AUTHORIZE, (location) => {
      location.searchParams.delete("iss");
      return location;
    }),
    flow("issuer-in-the-response"),
  ),
  fapi(
    "login-307",
    "Redirects the browser with 307 after the login",
    changeResponses(LOGIN, (answer) => answer.status === 303 ? withHeaders(answer, {}, 307) : answer),
    flow("login-not-307", "login-303"),
    { preventsSetup: "The browser does not arrive", mayFail: { "They sign in": ["oauth/login/"] } },
  ),
  fapi(
    "cors",
    "Supports CORS at the authorization endpoint",
    changeResponses(AUTHORIZE, (answer) => withHeaders(answer, { "access-control-allow-origin": "*" })),
    flow("no-cors-at-authorization"),
    { mayFail: { "They check CORS too": ["oauth/"] } },
  ),
  fapi(
    "short-key",
    "Publishes an RSA key of 1024 bits",
    changeJson(KEYS, (json) => {
      (json["keys"] as unknown[]).push({
        kty: "RSA",
        kid: "short",
        use: "sig",
        n: "x".repeat(171),
        e: "AQAB",
      });
    }),
    flow("keys-of-the-server"),
  ),
  fapi(
    "short-code",
    "Issues short codes",
    changeRedirects(AUTHORIZE, (location) => {
      if (location.searchParams.has("code")) location.searchParams.set("code", "1234567");
      return location;
    }),
    flow("long-code"),
    { preventsSetup: "The changed code is unknown", mayFail: { "They redeem it": flow("") } },
  ),
  fapi(
    "short-tokens",
    "Issues short tokens",
    changeJson(TOKEN, (json) => json["access_token"] !== undefined && (json["access_token"] = "1234567")),
    flow("long-tokens"),
    { mayFail: { "They use it": flow("") } },
  ),
];

export const FAPI_RESPONSES: readonly Mutant[] = [...resource, ...responses];
