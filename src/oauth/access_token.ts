/**
 * Access tokens: opaque ones looked up in the store, or JWTs as RFC 9068 shapes them
 * (https://www.rfc-editor.org/rfc/rfc9068#section-2). Both are good only while their grant lives.
 *
 * @module
 */
import { readJws, signJws, verifyJws } from "../crypto/jws.ts";
import { randomId, randomSecret, secretDigest } from "../crypto/secret.ts";
import type { Principal } from "../http/bearer.ts";
import { CACHED, type Commit, type Key, type Put } from "../store/store.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { type AccessToken, accessTokenKey, grantKey, revokedTokenKey } from "./records.ts";

const JWT_TYPE = "at+jwt";
/** The one workspace of everybody who comes with a token of this server. */
const WORKSPACE = "default";

/** What an access token is for. */
export interface AccessTokenRequest {
  readonly client_id: string;
  readonly scope: string;
  readonly user?: string;
  readonly grant?: string;
}

/** A new token, and what must be stored before it is handed out: nothing for a JWT. */
export async function mintAccessToken(
  as: AuthorizationServer,
  { client_id, scope, user, grant }: AccessTokenRequest,
): Promise<{ access_token: string; put: Put | undefined }> {
  const now = as.now();
  const expires = now + as.accessTokenLifetime * 1000;
  if (as.accessTokenFormat === "jwt") {
    const issued = Math.floor(now / 1000);
    const claims = {
      iss: as.issuer,
      // RFC 9068 §2.2: the client stands for itself when there is no user.
      sub: user ?? client_id,
      aud: as.issuer,
      client_id,
      scope,
      iat: issued,
      exp: issued + as.accessTokenLifetime,
      jti: randomId(""),
      ...(grant !== undefined && { grant }),
    };
    return { access_token: await signJws(await as.keys.current(), JWT_TYPE, claims), put: undefined };
  }
  const access_token = randomSecret("trivet_at_");
  const value: AccessToken = {
    client_id,
    scope,
    expires,
    ...(user !== undefined && { user }),
    ...(grant !== undefined && { grant }),
  };
  return { access_token, put: { key: accessTokenKey(secretDigest(access_token)), value, expires } };
}

/** A token that is good now, and what ends it before its time. */
export interface LiveAccessToken {
  readonly token: AccessToken;
  /** Where the store has it, or where it is written that it was revoked. */
  readonly record: { readonly opaque: Key } | { readonly revoked: Key };
}

/** Who the token stands for; `undefined` when it is unknown, expired, revoked or not ours. */
export async function verifyAccessToken(
  as: AuthorizationServer,
  presented: string,
): Promise<Principal | undefined> {
  const token = (await findAccessToken(as, presented))?.token;
  return token && {
    client: token.client_id,
    scopes: new Set(token.scope.split(" ")),
    workspace: WORKSPACE,
    expires: token.expires,
    ...(token.user !== undefined && { subject: token.user }),
  };
}

/** The token as it was issued; `undefined` when it is unknown, expired, revoked or not ours. */
export async function findAccessToken(
  as: AuthorizationServer,
  presented: string,
): Promise<LiveAccessToken | undefined> {
  const found = presented.includes(".") ? await readJwt(as, presented) : await readOpaque(as, presented);
  if (!found || found.token.expires <= as.now()) return undefined;
  const { grant } = found.token;
  return grant === undefined || await as.store.get(grantKey(grant), CACHED) ? found : undefined;
}

/** The commit after which the token is good nowhere. */
export function revocationOf({ token: { expires }, record }: LiveAccessToken): Commit {
  if ("opaque" in record) return { remove: [record.opaque] };
  return { set: [{ key: record.revoked, value: true, expires }] };
}

async function readOpaque(
  { store }: AuthorizationServer,
  presented: string,
): Promise<LiveAccessToken | undefined> {
  const entry = await store.get<AccessToken>(accessTokenKey(secretDigest(presented)), CACHED);
  return entry && { token: entry.value, record: { opaque: entry.key } };
}

/** RFC 9068 §4, in its order: the type, the key, the signature, then issuer, audience and time. */
async function readJwt(as: AuthorizationServer, token: string): Promise<LiveAccessToken | undefined> {
  const kid = readJws(token)?.header.kid;
  const key = typeof kid === "string" ? await as.keys.find(kid) : undefined;
  const claims = key && await verifyJws(key, JWT_TYPE, token);
  if (!claims || claims.iss !== as.issuer || claims.aud !== as.issuer) return undefined;
  const { sub, client_id, scope, exp, grant, jti } = claims as { [name: string]: string } & { exp: number };
  // RFC 7009 §3: a token that says everything itself needs a list of those that were revoked.
  const revoked = revokedTokenKey(jti!);
  if (await as.store.get(revoked)) return undefined;
  return {
    token: {
      client_id: client_id!,
      scope: scope!,
      expires: exp * 1000,
      ...(sub !== client_id && { user: sub! }),
      ...(grant !== undefined && { grant }),
    },
    record: { revoked },
  };
}
