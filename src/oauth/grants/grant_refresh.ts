/**
 * The refresh grant (https://www.rfc-editor.org/rfc/rfc6749#section-6) with rotation and reuse detection
 * (https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2): each use replaces the token. A client that lost the response
 * may retry within `refreshRetryGrace` and gets the same tokens again. Reuse of any other token ends the family.
 *
 * @module
 */
import { seal, unseal } from "../../crypto/seal.ts";
import type { ServerSecrets } from "../../crypto/server_secrets.ts";
import { derivedSecret, equalInConstantTime, randomId, secretDigest } from "../../crypto/secret.ts";
import { MAX_COMMIT_TRIES, pauseBefore } from "../../store/retry.ts";
import type { Entry, Key, Put } from "../../store/store.ts";
import { type AccessTokenRequest, type MintedAccessToken, OPAQUE_PREFIX } from "../tokens/access_token.ts";
import { narrowAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { extendRegistration, isPublic } from "../clients/client.ts";
import { requireConfirmation } from "../tokens/confirmation.ts";
import { OAuthError } from "../error.ts";
import type { Client } from "../records/client_record.ts";
import { type Grant, grantKey, type Rotation } from "../records/grant_record.ts";
import type { Mutable } from "../records/token_record.ts";
import type { Profile } from "../records/user_record.ts";
import { findLiveUser, isOfClient } from "../tokens/liveness.ts";
import {
  findRefreshKey,
  findRefreshKeys,
  isRefreshTokenOfOurs,
  readRefreshToken,
  type RefreshKey,
  toRefreshToken,
} from "../tokens/refresh_token.ts";
import { createIdToken } from "./grant.ts";
import { issueTokens, reportIssued } from "./issue_tokens.ts";
import { limitToResources, narrowResources } from "./resource.ts";
import { limitToClient, narrowScope } from "./scope.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "./token_response.ts";
import { grantKeys, toUserGrant } from "../users/user_grants.ts";
import { requireRole } from "../users/user_role.ts";

const REFUSED =
  "The refresh token is invalid, expired, revoked or already used, or was issued to another client";
/** The purpose under which a signed access token is sealed: unlike an opaque one it cannot be derived again. */
const SEAL_PURPOSE = "access token of a refresh";

/** New access and refresh token. @throws {OAuthError} invalid_grant, invalid_request, invalid_scope, invalid_target */
export async function grantRefresh(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form } = call;
  const presented = form.get("refresh_token");
  if (!presented) throw new OAuthError("invalid_request", "refresh_token is missing");
  const id = readRefreshToken(presented);
  if (id === undefined) throw new OAuthError("invalid_grant", REFUSED);
  // After a lost race our token is the previous one, so reading again gives the retry answer.
  for (let attempt = 0; attempt < MAX_COMMIT_TRIES; attempt++) {
    // Only requests that race against many others need more than one retry.
    if (attempt > 1) await pauseBefore(attempt);
    const entry = await as.store.get<Grant>(grantKey(id));
    if (!entry) throw new OAuthError("invalid_grant", REFUSED);
    const { cnf, user, created, confidential } = entry.value;
    if (!await isOfClient(as, entry.value, client, created)) throw new OAuthError("invalid_grant", REFUSED);
    requireConfirmation(cnf, call.cnf, "invalid_grant", "The refresh token");
    if (confidential && isPublic(client)) throw new OAuthError("invalid_grant", REFUSED);
    const owner = await findLiveUser(as, user, created);
    if (!owner) throw new OAuthError("invalid_grant", REFUSED);
    const key = findRefreshKey(as);
    const response = await tryRotate(
      as,
      call,
      key instanceof Promise ? await key : key,
      entry,
      owner,
      id,
      presented,
    );
    if (response) {
      if (client.source !== "operator") await extendRegistration(as, client);
      return response;
    }
  }
  throw new OAuthError(
    "temporarily_unavailable",
    "Too many concurrent requests with this refresh token. Try again",
  );
}

/** The new tokens; `undefined` when another request changed the grant since it was read. */
function tryRotate(
  as: AuthorizationServer,
  call: TokenCall,
  key: RefreshKey,
  entry: Entry<Grant>,
  owner: Profile,
  id: string,
  presented: string,
): Promise<TokenResponse | undefined> {
  const { client, form, cnf } = call;
  const grant = entry.value;
  const digest = secretDigest(presented);
  if (!grant.refresh || !equalInConstantTime(digest, grant.refresh.digest)) {
    return answerRetry(as, call, entry, owner, id, digest, presented);
  }
  if (grant.refresh.expires <= as.now()) throw new OAuthError("invalid_grant", REFUSED);
  const { user, authentication } = grant;
  // The request narrows this access token, not the grant (RFC 6749 §6, RFC 8707 §2.2, RFC 9396 §6).
  const resource = narrowResources(as, grant.resource, form.all("resource"));
  const requested = limitToClient(as, client, narrowScope(as, grant.scope, form.get("scope")));
  // The role of today counts, also when it was lowered after the grant.
  const scope = limitToResources(as, resource, requireRole(as, owner, requested, "invalid_grant"));
  const details = narrowAuthorizationDetails(
    as,
    client,
    grant.authorization_details,
    form.get("authorization_details"),
  );
  const salt = randomId("");
  // FAPI 2.0 §5.3.2.1: confidential clients with bound tokens keep their refresh token.
  const rotates = as.securityProfile === undefined;
  const next = rotates
    ? deriveNextTokens(key, call, id, presented, salt)
    : { refresh_token: presented, digest, access_token: undefined };
  const request: Mutable<AccessTokenRequest> = { user, grant: id, scope };
  if (resource) request.resource = resource;
  if (details) request.authorization_details = details;
  if (authentication) request.authentication = authentication;
  if (cnf) request.cnf = cnf;
  return issueTokens(as, call, "refresh_token", request, {
    used: entry,
    until: grant.until,
    refresh_token: next.refresh_token,
    ...(next.access_token !== undefined && { access_token: next.access_token }),
    toIdToken: as.openid && grant.openid &&
      ((access_token) => renewIdToken(as, client, grant, owner, scope, access_token)),
    toRecords(minted) {
      if (!rotates) return keepRefreshToken(as, entry, id, minted);
      const answer: Mutable<Rotation["answer"]> = {
        token_type: tokenTypeOf(cnf),
        expires_in: minted.expires_in,
        scope,
      };
      if (details) answer.authorization_details = details;
      const now = as.now();
      const previous: Mutable<Rotation> = {
        digest,
        until: now + as.refreshRetryGrace * 1000,
        salt,
        answer,
      };
      const refresh = { digest: next.digest, expires: refreshExpiry(as, grant) };
      const value: Mutable<Grant> = { ...grant, refresh, previous, used: now };
      const records = withIndex(as, id, { key: entry.key, value, expires: expiryOf(as, entry, minted) });
      return minted.put ? records : sealInto(previous, presented, minted, records);
    },
  });
}

/** The grant with the same refresh token and a later expiry. */
function keepRefreshToken(
  as: AuthorizationServer,
  entry: Entry<Grant>,
  id: string,
  minted: MintedAccessToken,
): Put[] {
  const { previous: _, ...grant } = entry.value;
  const refresh = { ...grant.refresh!, expires: refreshExpiry(as, grant) };
  const kept: Mutable<Grant> = { ...grant, refresh, used: as.now() };
  return withIndex(as, id, { key: entry.key, value: kept, expires: expiryOf(as, entry, minted) });
}

function refreshExpiry(as: AuthorizationServer, { until }: Grant): number {
  return Math.min(until, as.now() + as.refreshTokenLifetime * 1000);
}

/** When the record of the grant expires: not before its longest token, all of which end with it. */
function expiryOf(
  as: AuthorizationServer,
  { value, expires = 0 }: Entry<Grant>,
  { expires_in }: MintedAccessToken,
): number {
  const longest = Math.max(as.refreshTokenLifetime, expires_in) * 1000;
  return Math.min(value.until, Math.max(expires, as.now() + longest));
}

/** The record of the grant and, where it is due, its index record. */
function withIndex(
  as: AuthorizationServer,
  id: string,
  put: { readonly key: Key; readonly value: Mutable<Grant>; readonly expires: number },
): Put[] {
  const index = toUserGrant(as, id, put.value, put.expires);
  return index ? [put, index] : [put];
}

/**
 * What seals under a refresh token. HMAC replaces a key of more than 64 bytes by its SHA-256, which for the token itself is
 * the digest in the store: so version 0.1.0 did it, whose records are still read.
 */
function secretOf(presented: string): ServerSecrets {
  const encoder = new TextEncoder();
  const current = encoder.encode(secretDigest("seal " + presented));
  return { current, accepted: [current, encoder.encode(presented)], first: current };
}

/** Adds the signed access token to the record, sealed under the refresh token, and gives `records` back. */
async function sealInto(
  previous: Mutable<Rotation>,
  presented: string,
  { access_token }: MintedAccessToken,
  records: Put[],
): Promise<Put[]> {
  previous.sealed = await seal(secretOf(presented), SEAL_PURPOSE, access_token);
  return records;
}

/**
 * Answers a token that is not the current one: the previous one within the grace gets the same tokens again. Any other
 * token that this server issued ends the family.
 */
async function answerRetry(
  as: AuthorizationServer,
  call: TokenCall,
  { value: grant }: Entry<Grant>,
  owner: Profile,
  id: string,
  digest: string,
  presented: string,
): Promise<TokenResponse> {
  const { refresh, previous, client_id, user } = grant;
  const isPrevious = previous !== undefined && equalInConstantTime(digest, previous.digest);
  if (refresh && isPrevious && previous.until > as.now()) {
    const keys = await findRefreshKeys(as);
    const next = keys.flatMap((key) =>
      [false, true].map((isOld) => deriveNextTokens(key, call, id, presented, previous.salt, isOld))
    )
      .find((each) => equalInConstantTime(each.digest, refresh.digest));
    if (next) {
      const { answer, sealed } = previous;
      const signed = sealed && await unseal(secretOf(presented), SEAL_PURPOSE, sealed);
      reportIssued(as, call.client, "refresh_token", user);
      const access_token = signed ?? next.access_token;
      const response = toResponse(access_token, next.refresh_token, answer);
      if (!as.openid || !grant.openid) return response;
      const id_token = await renewIdToken(as, call.client, grant, owner, answer.scope, access_token);
      return { ...response, id_token };
    }
  }
  // Only a token that this server issued ends the family. The grant's id is not secret: JWT access tokens contain it.
  if (!isPrevious && !await isRefreshTokenOfOurs(as, presented)) {
    throw new OAuthError("invalid_grant", REFUSED);
  }
  await as.store.commit({ remove: grantKeys(user, id) });
  as.observe({ type: "refresh_replayed", client: client_id, user });
  throw new OAuthError("invalid_grant", REFUSED);
}

/**
 * The next tokens, derived from the presented refresh token, so that a retry gives the same ones and the store keeps
 * neither. A retry is the same request: another key, scope, resource or other details derive other tokens.
 * @param isOld as version 0.1.0 derived them: by HMAC with the token as key, so the digest in the store was enough
 */
function deriveNextTokens(
  key: RefreshKey,
  { form, cnf }: TokenCall,
  id: string,
  presented: string,
  salt: string,
  isOld = false,
) {
  const asked = JSON.stringify([
    salt,
    form.get("scope"),
    form.all("resource"),
    form.get("authorization_details"),
    cnf?.jkt,
    cnf?.["x5t#S256"],
  ]);
  const root = isOld ? derivedSecret(presented, asked) : presented + asked;
  return {
    ...toRefreshToken(key, id, secretDigest("refresh " + root)),
    access_token: OPAQUE_PREFIX + secretDigest("access " + root),
  };
}

/** OpenID Connect Core §12.2: the same subject and `auth_time` as in the first ID token. */
function renewIdToken(
  as: AuthorizationServer,
  client: Client,
  { authentication, openid }: Grant,
  user: Profile,
  scope: string,
  access_token: string,
): Promise<string> {
  return createIdToken(as, client, { user, authentication, openid: openid!, access_token, scope });
}

function toResponse(
  access_token: string,
  refresh_token: string,
  { token_type, expires_in, ...rest }: Rotation["answer"],
): TokenResponse {
  return { access_token, token_type, expires_in, refresh_token, ...rest };
}
