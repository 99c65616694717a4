/**
 * OAuth flows: authorization code with PKCE, refresh tokens, client credentials.
 *
 * @module
 */
import type { Explanation, Flow } from "./flow.ts";

export const SIGN_IN: readonly Explanation[] = [
  {
    exchange: { call: "login" },
    text: "The user signs in. No standard defines how; the target file describes it for this server.",
    rows: ["rfc6749#3.1/1"],
  },
  {
    exchange: { endpoint: "authorization", method: "GET", status: [200] },
    text:
      "The client redirects the browser to the authorization endpoint, with a code challenge (the hash of a " +
      "secret verifier) and a state value. The server checks the request, then asks the user for consent.",
    rows: [
      "rfc6749#3.1/5",
      "rfc6749#4.1.1/1",
      "rfc6749#4.1.1/2",
      "rfc6749#3.1.2.3/4",
      "rfc7636#4.2/1",
      "rfc6749#10.2/3",
    ],
  },
  {
    exchange: { endpoint: "authorization", status: [302, 303] },
    text: "The server redirects the browser to the client with a code: short-lived, for a single use, " +
      "and bound to this client, redirect URI and code challenge.",
    rows: ["rfc6749#4.1.2/1", "rfc6749#4.1.2/8", "rfc6749#4.1.2/6", "rfc7636#4.4/1", "rfc9207#2/1"],
  },
];

export const REDEEM: Explanation = {
  exchange: { endpoint: "token", request: "grant_type=authorization_code" },
  text:
    "The client exchanges the code for tokens. The code verifier proves that it sent the authorization request.",
  rows: [
    "rfc6749#3.2/4",
    "rfc6749#4.1.3/2",
    "rfc6749#4.1.3/4",
    "rfc6749#4.1.3/9",
    "rfc7636#4.5/2",
    "rfc6749#5.1/2",
    "rfc6749#5.1/3",
    "rfc6749#5.1/9",
  ],
};

const REFRESH: Explanation = {
  exchange: { endpoint: "token", request: "grant_type=refresh_token" },
  text:
    "The client exchanges its refresh token for a new access token. This server also issues a new refresh token.",
  rows: ["rfc6749#6/1", "rfc6749#6/5", "rfc6749#6/6", "rfc6749#6/7"],
};

export const USE: Explanation = {
  exchange: { endpoint: "resource" },
  text: "The client sends the access token to the resource server.",
  rows: ["rfc6750#2.1/1", "rfc6749#7/1"],
};

export const CODE: Flow = {
  name: "code",
  title: "Authorization code with PKCE",
  summary: "A user gives a client access in their name, without giving it their password.",
  explanations: [...SIGN_IN, REDEEM, USE],
  parts: [
    { text: "The whole flow, from sign-in to tokens.", vector: "oauth/pkce/s256" },
    { text: "The access token gives access to the resource.", vector: "oauth/bearer/accepted" },
    { text: "A used code is refused.", vector: "oauth/code/twice" },
    {
      text: "An attacker who knows the code and the challenge still needs the verifier.",
      vector: "oauth/pkce/verifier-is-challenge",
    },
    {
      text: "A code is never sent to an unregistered redirect URI.",
      vector: "oauth/redirect_uri/host-with-suffix",
    },
    {
      text: "Another client cannot use the code.",
      vector: "oauth/code/of-another-public-client",
    },
    { text: "If the user refuses, the client receives an error.", vector: "oauth/authorize/denied" },
  ],
};

export const REFRESHING: Flow = {
  name: "refresh",
  title: "Refreshing an access token",
  summary: "Access tokens are short-lived. A refresh token gets the next one without the user.",
  explanations: [...SIGN_IN, REDEEM, REFRESH, USE],
  parts: [
    { text: "The client uses its refresh token.", vector: "oauth/refresh/refreshed" },
    { text: "The new access token works.", vector: "oauth/refresh/new-token-works" },
    { text: "A client may request a narrower scope.", vector: "oauth/refresh/less-scope" },
    { text: "A refresh cannot widen the scope.", vector: "oauth/refresh/more-scope" },
    { text: "A refresh token belongs to one client.", vector: "oauth/refresh/of-another-public-client" },
    {
      text: "Reuse of an old refresh token means theft: all tokens of the grant are revoked.",
      vector: "oauth/refresh/reuse-ends-the-family",
    },
  ],
};

export const CLIENT_CREDENTIALS: Flow = {
  name: "client-credentials",
  title: "Client credentials",
  summary: "A client acts for itself, without a user, and authenticates with its secret.",
  explanations: [],
  parts: [
    { text: "The client authenticates and receives a token.", vector: "oauth/client_credentials/granted" },
    { text: "The response must not be cached.", vector: "oauth/client_credentials/not-cached" },
    { text: "A wrong secret is refused.", vector: "oauth/client_credentials/wrong-secret" },
    {
      text: "A public client has no secret and cannot use this grant.",
      vector: "oauth/client_credentials/public-client",
    },
    {
      text: "A scope beyond that of the client is not granted.",
      vector: "oauth/client_credentials/scope-beyond",
    },
    {
      text: "A malformed scope is refused.",
      vector: "oauth/client_credentials/scope-malformed",
    },
  ],
};
