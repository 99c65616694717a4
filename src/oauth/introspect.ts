/**
 * `POST /oauth/introspect` (https://www.rfc-editor.org/rfc/rfc7662#section-2): a protected resource asks what a token is
 * good for. Only confidential clients may ask; a refresh token is told to its own client alone.
 *
 * @module
 */
import { equalInConstantTime, secretDigest } from "../crypto/secret.ts";
import { readForm } from "../http/form.ts";
import { jsonFields, respondJson } from "../http/response.ts";
import { findAccessToken } from "./access_token.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { authenticateClient } from "./client_auth.ts";
import { OAuthError } from "./error.ts";
import { type Client, type Grant, grantKey } from "./records.ts";
import { readRefreshToken } from "./refresh_token.ts";

const FORM_LIMIT = 16 * 1024;
const FIELDS = jsonFields(["cache-control", "no-store"], ["pragma", "no-cache"]);
/** RFC 7662 §2.2: nothing else is said of a token that is not good. */
const INACTIVE = { active: false };

/** `{ active, scope, client_id, token_type, exp, sub, aud, iss }` or `{ active: false }`. @throws {OAuthError} */
export async function introspect(as: AuthorizationServer, request: Request): Promise<Response> {
  const { values: form, repeated } = await readForm(request, FORM_LIMIT);
  if (repeated.length > 0) throw new OAuthError("invalid_request", "Every parameter must come once");
  const client = await authenticateClient(as, request, form);
  // §2.1: who may ask must prove who they are.
  if (client.secret_digest === undefined) {
    throw new OAuthError("invalid_client", "Only a client with a secret may introspect tokens");
  }
  const token = form.get("token");
  if (!token) throw new OAuthError("invalid_request", "token is missing");
  return respondJson(200, await describe(as, client, token), FIELDS);
}

async function describe(as: AuthorizationServer, client: Client, token: string): Promise<object> {
  const id = readRefreshToken(token);
  if (id !== undefined) return await describeRefreshToken(as, client, id, token);
  const found = (await findAccessToken(as, token))?.token;
  if (!found) return INACTIVE;
  return {
    active: true,
    scope: found.scope,
    client_id: found.client_id,
    token_type: "Bearer",
    exp: Math.floor(found.expires / 1000),
    sub: found.user ?? found.client_id,
    aud: as.issuer,
    iss: as.issuer,
  };
}

async function describeRefreshToken(
  as: AuthorizationServer,
  client: Client,
  id: string,
  token: string,
): Promise<object> {
  const grant = (await as.store.get<Grant>(grantKey(id)))?.value;
  if (!grant?.refresh || grant.client_id !== client.id || grant.refresh.expires <= as.now()) return INACTIVE;
  if (!equalInConstantTime(secretDigest(token), grant.refresh.digest)) return INACTIVE;
  return {
    active: true,
    scope: grant.scope,
    client_id: grant.client_id,
    exp: Math.floor(grant.refresh.expires / 1000),
    sub: grant.user,
    iss: as.issuer,
  };
}
