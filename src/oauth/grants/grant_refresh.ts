/**
 * The refresh grant (https://www.rfc-editor.org/rfc/rfc6749#section-6) with rotation and reuse detection
 * (https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2): each use replaces the token. A client whose answer
 * got lost may ask again within the grace and hears the same; any other token of the family ends it.
 *
 * @module
 */
import { seal, unseal } from "../../crypto/seal.ts";
import { derivedSecret, equalInConstantTime, randomId, secretDigest } from "../../crypto/secret.ts";
import { MAX_COMMIT_TRIES, pauseBefore } from "../../store/retry.ts";
import type { Entry } from "../../store/store.ts";
import { type AccessTokenRequest, mintAccessToken, OPAQUE } from "../tokens/access_token.ts";
import { narrowAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { isPublic, keepClient } from "../clients/client.ts";
import { isConfirmed } from "../tokens/confirmation.ts";
import { OAuthError } from "../error.ts";
import { type Grant, grantKey, type Mutable, type Profile, type Rotation } from "../records.ts";
import { findLiveUser, isOfClient } from "../tokens/liveness.ts";
import {
  findRefreshKey,
  isRefreshTokenOfOurs,
  readRefreshToken,
  type RefreshKey,
  toRefreshToken,
} from "../tokens/refresh_token.ts";
import { narrowResources, scopeFor } from "./resource.ts";
import { narrowScope, narrowToClient } from "./scope.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "../endpoints/token_response.ts";
import { requireRole } from "../users/user_role.ts";

const REFUSED =
  "The refresh token is invalid, expired, revoked or already used, or was issued to another client";
/** What an access token is sealed for that is signed, and so follows from nothing. */
const SIGNED = "access token of a refresh";

/** New access and refresh token. @throws {OAuthError} invalid_grant, invalid_request, invalid_scope, invalid_target */
export async function grantRefresh(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form } = call;
  const presented = form.get("refresh_token");
  if (!presented) throw new OAuthError("invalid_request", "refresh_token is missing");
  const id = readRefreshToken(presented);
  if (id === undefined) throw new OAuthError("invalid_grant", REFUSED);
  // A lost race shows the winner's token as current, ours as the one before: one more look answers it.
  for (let attempt = 0; attempt < MAX_COMMIT_TRIES; attempt++) {
    // The first look again answers most; who still loses races against many.
    if (attempt > 1) await pauseBefore(attempt);
    const entry = await as.store.get<Grant>(grantKey(id));
    if (!entry || !isOfClient(as, entry.value, client)) throw new OAuthError("invalid_grant", REFUSED);
    const { cnf, user, confidential } = entry.value;
    if (!isConfirmed(cnf, call.cnf)) {
      throw new OAuthError(
        "invalid_grant",
        "The refresh token is bound to a DPoP key or a client certificate. Prove possession of it",
      );
    }
    if (confidential && isPublic(client)) throw new OAuthError("invalid_grant", REFUSED);
    const owner = await findLiveUser(as, user);
    if (!owner) throw new OAuthError("invalid_grant", REFUSED);
    const answer = await tryRotate(as, call, entry, owner, id, presented);
    if (answer) {
      if (client.source !== "operator") await keepClient(as, client);
      as.observe({ type: "token_issued", grant_type: "refresh_token", client: client.id, user });
      return answer;
    }
  }
  throw new OAuthError(
    "temporarily_unavailable",
    "Too many concurrent requests with this refresh token. Try again",
  );
}

/** The answer, or `undefined` when another request changed the grant meanwhile. */
async function tryRotate(
  as: AuthorizationServer,
  call: TokenCall,
  entry: Entry<Grant>,
  owner: Pick<Profile, "role">,
  id: string,
  presented: string,
): Promise<TokenResponse | undefined> {
  const { client, form, cnf } = call;
  const grant = entry.value;
  const digest = secretDigest(presented);
  if (!grant.refresh || !equalInConstantTime(digest, grant.refresh.digest)) {
    return await answerAgain(as, call, entry, id, digest, presented);
  }
  if (grant.refresh.expires <= as.now()) throw new OAuthError("invalid_grant", REFUSED);
  const { user, authentication } = grant;
  // What is asked for narrows this access token; the grant stays whole (RFC 6749 §6, RFC 8707 §2.2, RFC 9396 §6).
  const resource = narrowResources(as, grant.resource, form.all("resource"));
  const asked = narrowToClient(as, client, narrowScope(as, grant.scope, form.get("scope")));
  // A role that was lowered since holds for what was granted before.
  const scope = scopeFor(as, resource, requireRole(as, owner, asked, "invalid_grant"));
  const details = narrowAuthorizationDetails(
    as,
    client,
    grant.authorization_details,
    form.get("authorization_details"),
  );
  const salt = randomId("");
  const key = findRefreshKey(as);
  const next = deriveNextTokens(key instanceof Promise ? await key : key, call, id, presented, salt);
  const request: Mutable<AccessTokenRequest> = { user, grant: id, scope };
  if (resource) request.resource = resource;
  if (details) request.authorization_details = details;
  if (authentication) request.authentication = authentication;
  if (cnf) request.cnf = cnf;
  const { access_token, put, expires_in } = await mintAccessToken(as, client, request, next.access_token);
  const answer: Mutable<Rotation["answer"]> = { token_type: tokenTypeOf(cnf), expires_in, scope };
  if (details) answer.authorization_details = details;
  const expires = Math.min(grant.until, as.now() + as.refreshTokenLifetime * 1000);
  const value: Grant = {
    ...grant,
    refresh: { digest: next.digest, expires },
    previous: {
      digest,
      until: as.now() + as.refreshRetryGrace * 1000,
      salt,
      answer,
      ...(!put && { sealed: await seal(new TextEncoder().encode(presented), SIGNED, access_token) }),
    },
  };
  const set = [{ key: entry.key, value, expires }, ...(put ? [put] : [])];
  return await as.store.commit({ check: [{ key: entry.key, version: entry.version }], set })
    ? toResponse(access_token, next.refresh_token, answer)
    : undefined;
}

/** A token that is not the current one: within the grace its old answer, else, when it was good once, the end of the family. */
async function answerAgain(
  as: AuthorizationServer,
  call: TokenCall,
  { key, value: { refresh, previous, client_id, user } }: Entry<Grant>,
  id: string,
  digest: string,
  presented: string,
): Promise<TokenResponse> {
  const isPrevious = previous !== undefined && equalInConstantTime(digest, previous.digest);
  if (refresh && isPrevious && previous.until > as.now()) {
    const next = deriveNextTokens(await findRefreshKey(as), call, id, presented, previous.salt);
    if (equalInConstantTime(next.digest, refresh.digest)) {
      const { answer, sealed } = previous;
      const signed = sealed && await unseal(new TextEncoder().encode(presented), SIGNED, sealed);
      return toResponse(signed ?? next.access_token, next.refresh_token, answer);
    }
  }
  // Only a token that was good once ends the family: the grant's id alone, which a JWT tells, makes none.
  if (!isPrevious && !await isRefreshTokenOfOurs(as, presented)) {
    throw new OAuthError("invalid_grant", REFUSED);
  }
  await as.store.commit({ remove: [key] });
  as.observe({ type: "refresh_replayed", client: client_id, user });
  throw new OAuthError("invalid_grant", REFUSED);
}

/**
 * The tokens that follow one, which only who holds it can tell, so that the store keeps neither. A retry is the same
 * request: another key, scope, resource or other details lead to other tokens than those that were given.
 */
function deriveNextTokens(
  key: RefreshKey,
  { form, cnf }: TokenCall,
  id: string,
  presented: string,
  salt: string,
) {
  const asked = [
    salt,
    form.get("scope"),
    form.all("resource"),
    form.get("authorization_details"),
    cnf?.jkt,
    cnf?.["x5t#S256"],
  ];
  const root = derivedSecret(presented, JSON.stringify(asked));
  return {
    ...toRefreshToken(key, id, secretDigest("refresh " + root)),
    access_token: OPAQUE + secretDigest("access " + root),
  };
}

function toResponse(
  access_token: string,
  refresh_token: string,
  { token_type, expires_in, ...rest }: Rotation["answer"],
): TokenResponse {
  return { access_token, token_type, expires_in, refresh_token, ...rest };
}
