/**
 * The OAuth flows that are walked: the code grant with PKCE, refreshing, and a client for itself.
 *
 * @module
 */
import type { Flow, Point } from "./flow.ts";

export const SIGN_IN: readonly Point[] = [
  {
    fits: { call: "login" },
    says: "The user signs in. How is the server's own affair: the target file says how this one does it.",
    rows: ["rfc6749#3.1/1"],
  },
  {
    fits: { endpoint: "authorization", method: "GET", status: [200] },
    says:
      "The client has sent the browser here, with a challenge, the hash of a secret that it keeps, and a " +
      "state that it will recognise. The server checks the request, then asks the user.",
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
    fits: { endpoint: "authorization", status: [302, 303] },
    says: "The server sends the browser back to the client with a code: short-lived, " +
      "good once, tied to this client, this address and this challenge.",
    rows: ["rfc6749#4.1.2/1", "rfc6749#4.1.2/8", "rfc6749#4.1.2/6", "rfc7636#4.4/1", "rfc9207#2/1"],
  },
];

export const REDEEM: Point = {
  fits: { endpoint: "token", request: "grant_type=authorization_code" },
  says: "The client redeems the code, and proves with the verifier that it is the one who asked.",
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

const REFRESH: Point = {
  fits: { endpoint: "token", request: "grant_type=refresh_token" },
  says:
    "The client exchanges its refresh token for a new access token, and here for a new refresh token too.",
  rows: ["rfc6749#6/1", "rfc6749#6/5", "rfc6749#6/6", "rfc6749#6/7"],
};

export const USE: Point = {
  fits: { endpoint: "resource" },
  says: "The client shows the access token to the server that has what it wants.",
  rows: ["rfc6750#2.1/1", "rfc6749#7/1"],
};

export const CODE: Flow = {
  name: "code",
  title: "Authorization code with PKCE",
  about: "A user lets a client do something in their name, without giving it their password.",
  points: [...SIGN_IN, REDEEM, USE],
  parts: [
    { says: "From signing in to tokens, as it should go.", vector: "oauth/pkce/s256" },
    { says: "The token opens what it is for.", vector: "oauth/bearer/accepted" },
    { says: "A code that was seen by others is worth nothing once it was used.", vector: "oauth/code/twice" },
    {
      says: "Who caught the code and saw the challenge still lacks the verifier.",
      vector: "oauth/pkce/verifier-is-challenge",
    },
    {
      says: "A code must not go where an attacker says.",
      vector: "oauth/redirect_uri/host-with-suffix",
    },
    {
      says: "Nor may another client use it.",
      vector: "oauth/code/of-another-public-client",
    },
    { says: "The user may refuse, and the client is told.", vector: "oauth/authorize/denied" },
  ],
};

export const REFRESHING: Flow = {
  name: "refresh",
  title: "Refreshing an access token",
  about: "Access tokens are short-lived. A refresh token gets the next one without the user.",
  points: [...SIGN_IN, REDEEM, REFRESH, USE],
  parts: [
    { says: "Beside the access token there is a refresh token: use it.", vector: "oauth/refresh/refreshed" },
    { says: "What came works.", vector: "oauth/refresh/new-token-works" },
    { says: "A client may ask for less than it was granted.", vector: "oauth/refresh/less-scope" },
    { says: "It never gets more.", vector: "oauth/refresh/more-scope" },
    { says: "A refresh token belongs to one client.", vector: "oauth/refresh/of-another-public-client" },
    {
      says: "A refresh token that comes again much later was stolen, here or there: nobody keeps access.",
      vector: "oauth/refresh/reuse-ends-the-family",
    },
  ],
};

export const CLIENT_CREDENTIALS: Flow = {
  name: "client-credentials",
  title: "Client credentials",
  about: "A client acts for itself, with no user in sight, and proves who it is by its secret.",
  points: [],
  parts: [
    { says: "A secret for a token.", vector: "oauth/client_credentials/granted" },
    { says: "No cache on the way may keep it.", vector: "oauth/client_credentials/not-cached" },
    { says: "Without the secret there is no token.", vector: "oauth/client_credentials/wrong-secret" },
    {
      says: "A client that has no secret cannot prove who it is.",
      vector: "oauth/client_credentials/public-client",
    },
    {
      says: "The secret proves who asks. What they may have is another matter.",
      vector: "oauth/client_credentials/scope-beyond",
    },
    {
      says: "Malformed is malformed, and told.",
      vector: "oauth/client_credentials/scope-malformed",
    },
  ],
};
