/**
 * The storage model of @node-oauth/oauth2-server, as its `docs/api/model.md` describes each function: clients from
 * `target.json`, everything else in memory. Each call takes as long as one to a nearby database. Codes and refresh tokens
 * are consumed atomically.
 *
 * @module
 */
import { setTimeout } from "node:timers/promises";

const SCOPES = ["profile", "read"];
const LATENCY_MS = 2;

/** Grants of clients that differ from the default. */
const GRANTS = {
  confidential: ["authorization_code", "refresh_token", "client_credentials"],
  other: ["authorization_code", "refresh_token", "client_credentials"],
  odd_secret: ["client_credentials"],
  service: ["client_credentials"],
  code_only: ["authorization_code"],
  no_code: ["client_credentials"],
};

/** @param vars the vars of the target file */
export function createModel(vars) {
  const clients = new Map(Object.entries(vars.clients).map(toClient));
  const codes = new Map();
  const accessTokens = new Map();
  const refreshTokens = new Map();
  return withLatency({
    /** The secret is null at the authorization endpoint, and undefined if the token request had none. */
    getClient(id, secret) {
      const client = clients.get(id);
      if (client === undefined || secret === null) return client;
      return (client.secret ?? "") === (secret ?? "") ? client : undefined;
    },
    getUserFromClient: (client) => ({ id: client.id }),
    /** Uses a default if scope is missing, and refuses unknown scopes. */
    validateScope(_user, _client, scope) {
      const requested = scope ?? ["profile"];
      return requested.every((each) => SCOPES.includes(each)) ? requested : false;
    },
    verifyScope: (token, scopes) => scopes.every((each) => token.scope.includes(each)),
    saveAuthorizationCode(code, client, user) {
      const saved = { ...code, client, user };
      codes.set(code.authorizationCode, saved);
      return saved;
    },
    getAuthorizationCode: (code) => codes.get(code),
    revokeAuthorizationCode: (code) => codes.delete(code.authorizationCode),
    saveToken(token, client, user) {
      const saved = { ...token, client, user };
      accessTokens.set(token.accessToken, saved);
      if (token.refreshToken) refreshTokens.set(token.refreshToken, saved);
      return saved;
    },
    getAccessToken: (token) => accessTokens.get(token),
    getRefreshToken: (token) => refreshTokens.get(token),
    revokeToken: (token) => refreshTokens.delete(token.refreshToken),
  });
}

function withLatency(model) {
  const calls = Object.entries(model).map(([name, call]) => [name, async (...args) => {
    await setTimeout(LATENCY_MS);
    return call(...args);
  }]);
  return Object.fromEntries(calls);
}

function toClient([name, { id, secret, redirect_uri, second_redirect_uri }]) {
  const redirectUris = [redirect_uri, second_redirect_uri].filter((uri) => uri !== undefined);
  return [id, { id, secret, redirectUris, grants: GRANTS[name] ?? ["authorization_code", "refresh_token"] }];
}
