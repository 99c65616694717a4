/**
 * The model that @node-oauth/oauth2-server asks for storage, as its `docs/api/model.md` describes each function: clients
 * from `target.json`, everything else in memory, each call as long as one to a database nearby. Codes and refresh tokens
 * are taken out once, atomically.
 *
 * @module
 */
import { setTimeout } from "node:timers/promises";

const SCOPES = ["profile", "read"];

/** What a client may do beyond what follows from its secret and redirect URIs. */
const GRANTS = {
  confidential: ["authorization_code", "refresh_token", "client_credentials"],
  other: ["authorization_code", "refresh_token", "client_credentials"],
  odd_secret: ["client_credentials"],
  service: ["client_credentials"],
  code_only: ["authorization_code"],
  no_code: ["client_credentials"],
};

/** @param vars those of the target file */
export function createModel(vars) {
  const clients = new Map(Object.entries(vars.clients).map(toClient));
  const codes = new Map();
  const accessTokens = new Map();
  const refreshTokens = new Map();
  return remote({
    /** The secret is null at the authorization endpoint, and not there where the token request had none. */
    getClient(id, secret) {
      const client = clients.get(id);
      if (client === undefined || secret === null) return client;
      return (client.secret ?? "") === (secret ?? "") ? client : undefined;
    },
    getUserFromClient: (client) => ({ id: client.id }),
    /** Without a scope there is a default; what a client may not have is refused. */
    validateScope(_user, _client, scope) {
      const asked = scope ?? ["profile"];
      return asked.every((each) => SCOPES.includes(each)) ? asked : false;
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

function remote(model) {
  const calls = Object.entries(model).map(([name, call]) => [name, async (...given) => {
    await setTimeout(2);
    return call(...given);
  }]);
  return Object.fromEntries(calls);
}

function toClient([name, { id, secret, redirect_uri, second_redirect_uri }]) {
  const redirectUris = [redirect_uri, second_redirect_uri].filter((uri) => uri !== undefined);
  return [id, { id, secret, redirectUris, grants: GRANTS[name] ?? ["authorization_code", "refresh_token"] }];
}
