/**
 * Access tokens: opaque ones looked up in the store, or JWTs as RFC 9068 shapes them
 * (https://www.rfc-editor.org/rfc/rfc9068#section-2). Both are good only while their client, user and grant exist.
 *
 * @module
 */
import { readJws, signJws, verifyJws } from "../../crypto/jws.ts";
import { randomId, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { CACHED, type Key, type Put } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { clientSince, findLive } from "./liveness.ts";
import {
  type AccessToken,
  accessTokenKey,
  type Actor,
  type AuthorizationDetail,
  type Client,
  type Confirmation,
  type Mutable,
  type Profile,
} from "../records.ts";
import { settingsOf } from "../grants/resource.ts";
import { revokeSignedToken, type SignedToken } from "./revocations.ts";

const JWT_TYPE = "at+jwt";
/** What an opaque token begins with. */
export const OPAQUE = "trivet_at_";

/** What an access token is to say. */
export type AccessTokenRequest = Omit<AccessToken, "issued" | "expires" | "client_id" | "client_since">;

/** A token, and what must be stored before it is handed out: nothing for a JWT. */
export interface MintedAccessToken {
  readonly access_token: string;
  readonly put: Put | undefined;
  /** Seconds. */
  readonly expires_in: number;
}

/**
 * A new token for this client.
 * @param secret of an opaque one
 * @param until the latest end, in milliseconds since the epoch
 * @throws {OAuthError} invalid_target for resources whose tokens differ in kind
 */
export async function mintAccessToken(
  as: AuthorizationServer,
  client: Client,
  asked: AccessTokenRequest,
  secret: string = randomSecret(OPAQUE),
  until: number = Infinity,
): Promise<MintedAccessToken> {
  const { format, lifetime } = chooseKind(as, client, asked.resource);
  const issued = as.now();
  const expires = Math.min(issued + lifetime * 1000, until);
  const expires_in = Math.floor((expires - issued) / 1000);
  const token: Mutable<AccessToken> = { ...asked, client_id: client.id, issued, expires };
  const since = clientSince(as, client);
  if (since !== undefined) token.client_since = since;
  if (format === "jwt") {
    return {
      access_token: await signJws(await as.keys.current(), JWT_TYPE, toClaims(as, token)),
      put: undefined,
      expires_in,
    };
  }
  return {
    access_token: secret,
    put: { key: accessTokenKey(secretDigest(secret)), value: token, expires },
    expires_in,
  };
}

/** What the resource says, else the client, else the server. */
function chooseKind(
  as: AuthorizationServer,
  client: Client,
  resource: readonly string[] | undefined,
): { format: "opaque" | "jwt"; lifetime: number } {
  const usual = client.access_token_format ?? as.accessTokenFormat;
  if (resource === undefined) return { format: usual, lifetime: as.accessTokenLifetime };
  const settings = settingsOf(as, resource);
  const formats = new Set(settings.map(({ accessTokenFormat }) => accessTokenFormat ?? usual));
  if (formats.size > 1) {
    throw new OAuthError(
      "invalid_target",
      "The requested resources use different access token formats. Request one resource at a time",
    );
  }
  const lifetimes = settings.map(({ accessTokenLifetime }) => accessTokenLifetime ?? as.accessTokenLifetime);
  return { format: [...formats][0] ?? usual, lifetime: Math.min(...lifetimes) };
}

/** RFC 9068 §2.2, with what RFC 7800, 8693, 9396 and 9470 add. */
function toClaims(as: AuthorizationServer, token: AccessToken): Record<string, unknown> {
  const {
    client_id,
    client_since,
    scope,
    user,
    grant,
    resource,
    issued,
    expires,
    cnf,
    authentication,
    authorization_details,
    act,
  } = token;
  return {
    iss: as.issuer,
    // RFC 9068 §2.2: the client stands for itself when there is no user.
    sub: user ?? client_id,
    aud: resource === undefined ? as.issuer : resource.length === 1 ? resource[0] : resource,
    client_id,
    ...(client_since !== undefined && { client_since }),
    scope,
    iat: Math.floor(issued / 1000),
    exp: Math.floor(expires / 1000),
    jti: randomId(""),
    ...(grant !== undefined && { grant }),
    ...(cnf && { cnf }),
    ...authentication,
    ...(authorization_details && { authorization_details }),
    ...(act && { act }),
  };
}

/** A token that is good now, and what ends it before its time. */
export interface LiveAccessToken {
  readonly token: AccessToken;
  /** Where the store has it, or by what a signed one is revoked. */
  readonly record: { readonly opaque: Key } | { readonly signed: SignedToken };
  /** Who granted it; `undefined` where a client acts for itself. */
  readonly owner: Profile | undefined;
}

/**
 * The token as it was issued, but with no more scope than its user may grant today; `undefined` when it is unknown,
 * expired, revoked or not ours.
 */
export async function findAccessToken(
  as: AuthorizationServer,
  presented: string,
): Promise<LiveAccessToken | undefined> {
  let token: AccessToken;
  let record: LiveAccessToken["record"];
  let signed: SignedToken | undefined;
  if (presented.includes(".")) {
    const found = await readJwt(as, presented);
    if (!found) return undefined;
    ({ token, signed } = found);
    record = { signed };
  } else {
    const entry = await as.store.get<AccessToken>(accessTokenKey(secretDigest(presented)), CACHED);
    if (!entry) return undefined;
    token = entry.value;
    record = { opaque: entry.key };
  }
  if (token.expires <= as.now()) return undefined;
  const live = await findLive(as, token, signed);
  if (!live) return undefined;
  const { scope, owner } = live;
  return { token: scope === token.scope ? token : { ...token, scope }, record, owner };
}

/** After this the token is good nowhere. */
export async function revokeAccessToken(
  { store }: AuthorizationServer,
  { record }: LiveAccessToken,
): Promise<void> {
  if ("signed" in record) await revokeSignedToken(store, record.signed);
  else await store.commit({ remove: [record.opaque] });
}

/** RFC 9068 §4, in its order: the type, the key, the signature, then issuer and time. */
async function readJwt(
  as: AuthorizationServer,
  token: string,
): Promise<{ token: AccessToken; signed: SignedToken } | undefined> {
  const read = readJws(token);
  const kid = read?.header.kid;
  const key = typeof kid === "string" ? await as.keys.find(kid) : undefined;
  const claims = key && await verifyJws(key, JWT_TYPE, token, read);
  if (!claims || claims.iss !== as.issuer) return undefined;
  const { sub, client_id, scope, exp, iat, aud, grant, jti } = claims as
    & { [name: string]: string }
    & { exp: number; iat: number; aud: string | string[] };
  const { client_since, cnf, auth_time, acr, authorization_details, act } = claims as {
    client_since?: number;
    cnf?: Confirmation;
    auth_time?: number;
    acr?: string;
    authorization_details?: AuthorizationDetail[];
    act?: Actor;
  };
  return {
    token: {
      client_id: client_id!,
      ...(client_since !== undefined && { client_since }),
      scope: scope!,
      issued: iat * 1000,
      expires: exp * 1000,
      ...(aud !== as.issuer && { resource: typeof aud === "string" ? [aud] : aud }),
      ...(sub !== client_id && { user: sub! }),
      ...(grant !== undefined && { grant }),
      ...(cnf && { cnf }),
      ...(auth_time !== undefined && { authentication: { auth_time, acr: acr! } }),
      ...(authorization_details && { authorization_details }),
      ...(act && { act }),
    },
    signed: { jti: jti!, client_id: client_id!, issued: iat * 1000, grant },
  };
}
