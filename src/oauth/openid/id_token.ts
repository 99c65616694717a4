/**
 * ID tokens (https://openid.net/specs/openid-connect-core-1_0.html#section-2): issued with the tokens of a grant, and read
 * when a client sends one back as a hint or to exchange it.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { type Claims, type JwsAlgorithm, readJws, signJws, verifyJws } from "../../crypto/jws.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Authentication, GrantedOpenId } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import type { Profile } from "../records/user_record.ts";
import { allowedAlgorithm } from "../security_profile.ts";
import { scopesOf } from "../tokens/protect.ts";
import { claimsOf, limitClaimScope } from "./claims.ts";
import { subjectOf } from "./subject.ts";

/** What an ID token says beside its times. */
export interface IdTokenFacts {
  readonly user: Profile;
  readonly authentication: Authentication | undefined;
  readonly openid: GrantedOpenId;
  /** Of the authentication request; absent after a refresh (§12.2). */
  readonly nonce?: string | undefined;
  /** Issued with the ID token, which holds a digest of it. */
  readonly access_token: string;
  /** Of the access token. */
  readonly scope: string;
}

/** RFC 8725 §3.11: access tokens and logout tokens have other types. */
const TYPE = "JWT";
const NO_SCOPES: ReadonlySet<string> = new Set();

/** The algorithm of the ID tokens of this client: RS256 by default (Registration §2). */
export function idTokenAlgorithmOf(
  as: AuthorizationServer,
  { id_token_signed_response_alg = "RS256" }: Client,
): JwsAlgorithm {
  return allowedAlgorithm(as, id_token_signed_response_alg);
}

/** Creates an ID token: a JWS with the `alg` that the client registered (OpenID Connect Core section 2). */
export async function createIdToken(
  as: AuthorizationServer,
  client: Client,
  { user, authentication, openid: { claims, claim_scope, sid }, nonce, access_token, scope }: IdTokenFacts,
): Promise<string> {
  const key = await as.keys.current(idTokenAlgorithmOf(as, client));
  const scopes = scopesOf(as, scope);
  const allowed = new Set([...scopes, ...limitClaimScope(as, client, user, claim_scope)]);
  const iat = Math.floor(as.now() / 1000);
  return await signJws(key, TYPE, {
    iss: as.issuer,
    sub: await subjectOf(as, client, user.id),
    aud: client.id,
    iat,
    exp: iat + as.openid!.idTokenLifetime,
    ...(authentication && describeAuthentication(authentication)),
    ...(nonce !== undefined && { nonce }),
    at_hash: await leftHalfHash(key.alg, access_token),
    ...(sid !== undefined && { sid }),
    // §5.4: UserInfo has the claims of scopes. §2 allows them here too, where many clients look for them alone.
    ...claimsOf(user, as.openid!.scopeClaimsInIdToken ? scopes : NO_SCOPES, claims?.id_token, allowed),
  });
}

/** `amr` of a password login is `pwd` (RFC 8176 §2). */
export function describeAuthentication(
  { auth_time, acr, amr = acr === "password" ? ["pwd"] : [] }: Authentication,
): Record<string, unknown> {
  return { auth_time, acr, ...(amr.length > 0 && { amr }) };
}

/** §3.1.3.6: the left half of the hash that belongs to the algorithm; SHA-512 for Ed25519. */
export async function leftHalfHash(alg: JwsAlgorithm, text: string): Promise<string> {
  const name = alg === "Ed25519" || alg === "EdDSA" ? "SHA-512" : "SHA-256";
  const hash = new Uint8Array(await crypto.subtle.digest(name, new TextEncoder().encode(text)));
  return encodeBase64url(hash.subarray(0, hash.length / 2));
}

/**
 * The claims of an ID token that this server issued; `undefined` for any other token.
 * @param client the client that must be its audience, when one is given
 */
export async function readIdToken(
  as: AuthorizationServer,
  token: string,
  client?: Pick<Client, "id">,
): Promise<Claims & { readonly sub: string; readonly aud: string; readonly exp: number } | undefined> {
  const read = readJws(token);
  const kid = read?.header.kid;
  const key = typeof kid === "string" ? await as.keys.find(kid) : undefined;
  const claims = key && await verifyJws(key, TYPE.toLowerCase(), token, read);
  if (!claims || claims.iss !== as.issuer) return undefined;
  const { sub, aud, exp } = claims;
  // A signed UserInfo response has no exp.
  if (typeof sub !== "string" || typeof aud !== "string" || typeof exp !== "number") return undefined;
  return client && aud !== client.id ? undefined : { ...claims, sub, aud, exp };
}
