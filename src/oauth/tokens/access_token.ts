/**
 * Access tokens: opaque ones that are looked up in the store, or JWTs of RFC 9068
 * (https://www.rfc-editor.org/rfc/rfc9068#section-2). Both are valid only while their client, user and grant exist.
 *
 * @module
 */
import { readJws, signJws, verifyJws } from "../../crypto/jws.ts";
import { randomId, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { CACHED, type Key, type Put } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { clientSince, findLive } from "./liveness.ts";
import type { AuthorizationDetail } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import {
  type AccessToken,
  accessTokenKey,
  type Actor,
  type Confirmation,
  type Mutable,
} from "../records/token_record.ts";
import type { Profile } from "../records/user_record.ts";
import { findResourceSettings } from "../grants/resource.ts";
import { revokeSignedToken, type SignedToken } from "./revocations.ts";

const JWT_TYPE = "at+jwt";
/** The prefix of opaque tokens. */
export const OPAQUE_PREFIX = "trivet_at_";

/** The contents of an access token that is to be issued. */
export type AccessTokenRequest = Omit<AccessToken, "issued" | "expires" | "client_id" | "client_since">;

/** A token, and the record that must be stored before it is given out: none for a JWT. */
export interface MintedAccessToken {
  readonly access_token: string;
  readonly put: Put | undefined;
  /** Seconds. */
  readonly expires_in: number;
}

/**
 * A new access token for this client; a promise only for a signed one.
 * @param secret the token, when it is opaque
 * @param until the latest expiry, in milliseconds since the epoch
 * @throws {OAuthError} invalid_target for resources whose tokens differ in format
 */
export function mintAccessToken(
  as: AuthorizationServer,
  client: Client,
  request: AccessTokenRequest,
  secret: string = randomSecret(OPAQUE_PREFIX),
  until: number = Infinity,
): MintedAccessToken | Promise<MintedAccessToken> {
  const { format, lifetime } = chooseFormat(as, client, request.resource);
  const issued = as.now();
  const expires = Math.min(issued + lifetime * 1000, until);
  const expires_in = Math.floor((expires - issued) / 1000);
  const token: Mutable<AccessToken> = { ...request, client_id: client.id, issued, expires };
  const since = clientSince(as, client);
  if (since !== undefined) token.client_since = since;
  if (format === "jwt") {
    return as.keys.current().then((key) => signJws(key, JWT_TYPE, toClaims(as, token)))
      .then((access_token) => ({ access_token, put: undefined, expires_in }));
  }
  return {
    access_token: secret,
    put: { key: accessTokenKey(secretDigest(secret)), value: token, expires },
    expires_in,
  };
}

/** The setting of the resource, else of the client, else of the server. */
function chooseFormat(
  as: AuthorizationServer,
  client: Client,
  resource: readonly string[] | undefined,
): { format: "opaque" | "jwt"; lifetime: number } {
  const usual = client.access_token_format ?? as.accessTokenFormat;
  if (resource === undefined) return { format: usual, lifetime: as.accessTokenLifetime };
  const settings = findResourceSettings(as, resource);
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

/** The claims of RFC 9068 §2.2, and those that RFC 7800, 8693, 9396 and 9470 add. */
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
    // RFC 9068 §2.2: without a user the client is the subject.
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

/** A token that this server issued and that has not expired, and what its revocation needs. */
export interface IssuedAccessToken {
  readonly token: AccessToken;
  /** The key of the record of an opaque token, or what identifies a signed one. */
  readonly record: { readonly opaque: Key } | { readonly signed: SignedToken };
}

/** A valid token. */
export interface LiveAccessToken extends IssuedAccessToken {
  /** The user who granted it; `undefined` when a client acts for itself. */
  readonly owner: Profile | undefined;
}

/**
 * The token as it was issued, also while its user is locked or may grant none of its scope; `undefined` when it is unknown,
 * expired or not issued by this server. Whether it is valid now says {@linkcode findAccessToken}.
 */
export async function readAccessToken(
  as: AuthorizationServer,
  presented: string,
): Promise<IssuedAccessToken | undefined> {
  let read: IssuedAccessToken | undefined;
  if (presented.includes(".")) read = await readJwt(as, presented);
  else {
    const entry = await as.store.get<AccessToken>(accessTokenKey(secretDigest(presented)), CACHED);
    read = entry && { token: entry.value, record: { opaque: entry.key } };
  }
  return read && read.token.expires > as.now() ? read : undefined;
}

/**
 * The token as it was issued, its scope limited to what its user may grant now; `undefined` when it is unknown, expired,
 * revoked or not issued by this server.
 */
export async function findAccessToken(
  as: AuthorizationServer,
  presented: string,
): Promise<LiveAccessToken | undefined> {
  const read = await readAccessToken(as, presented);
  if (!read) return undefined;
  const { token, record } = read;
  const finding = findLive(as, token, "signed" in record ? record.signed : undefined);
  const live = finding instanceof Promise ? await finding : finding;
  if (!live) return undefined;
  const { scope, owner } = live;
  return { token: scope === token.scope ? token : { ...token, scope }, record, owner };
}

/** Revokes the token. */
export async function revokeAccessToken(
  { store }: AuthorizationServer,
  { record }: IssuedAccessToken,
): Promise<void> {
  if ("signed" in record) await revokeSignedToken(store, record.signed);
  else await store.commit({ remove: [record.opaque] });
}

/** RFC 9068 §4, in its order: type, key, signature, issuer. */
async function readJwt(
  as: AuthorizationServer,
  token: string,
): Promise<IssuedAccessToken | undefined> {
  const read = readJws(token);
  const kid = read?.header.kid;
  const key = typeof kid === "string" ? await as.keys.find(kid) : undefined;
  const claims = key && await verifyJws(key, JWT_TYPE, token, read);
  if (!claims || claims.iss !== as.issuer) return undefined;
  const { sub, client_id, scope, exp, iat, aud, grant, jti } = claims as
    & { [name: string]: string }
    & { exp: number; iat: number; aud: string | string[] };
  const { client_since, cnf, auth_time, acr, amr, authorization_details, act } = claims as {
    client_since?: number;
    cnf?: Confirmation;
    auth_time?: number;
    acr?: string;
    amr?: string[];
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
      // A grant has a user, whose id in another system can be that of the client.
      ...((sub !== client_id || grant !== undefined) && { user: sub! }),
      ...(grant !== undefined && { grant }),
      ...(cnf && { cnf }),
      ...(auth_time !== undefined && { authentication: { auth_time, acr: acr!, ...(amr && { amr }) } }),
      ...(authorization_details && { authorization_details }),
      ...(act && { act }),
    },
    record: { signed: { jti: jti!, client_id: client_id!, issued: iat * 1000, grant } },
  };
}
