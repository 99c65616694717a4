/**
 * The refresh grant (https://www.rfc-editor.org/rfc/rfc6749#section-6) with rotation and reuse detection
 * (https://www.rfc-editor.org/rfc/rfc9700#section-4.14.2): each use replaces the token. A client whose answer
 * got lost may ask again within the grace and hears the same; any other token of the family ends it.
 *
 * @module
 */
import { seal, unseal } from "../crypto/seal.ts";
import { equalInConstantTime, secretDigest } from "../crypto/secret.ts";
import type { Entry } from "../store/store.ts";
import { mintAccessToken } from "./access_token.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { OAuthError } from "./error.ts";
import { type Client, type Grant, grantKey } from "./records.ts";
import { mintRefreshToken, readRefreshToken } from "./refresh_token.ts";
import { narrowScope } from "./scope.ts";
import type { TokenForm, TokenResponse } from "./token_response.ts";

const REFUSED = "The refresh token is unknown, used, expired or revoked, or was not issued to this client";
const PURPOSE = "refresh answer";

/** New access and refresh token. @throws {OAuthError} invalid_grant, invalid_request, invalid_scope */
export async function grantRefresh(
  as: AuthorizationServer,
  client: Client,
  form: TokenForm,
): Promise<TokenResponse> {
  const presented = form.get("refresh_token");
  if (!presented) throw new OAuthError("invalid_request", "refresh_token is missing");
  const id = readRefreshToken(presented);
  if (id === undefined) throw new OAuthError("invalid_grant", REFUSED);
  // A lost race shows the winner's token as current, ours as the one before: one more look answers it.
  for (;;) {
    const entry = await as.store.get<Grant>(grantKey(id));
    if (!entry || entry.value.client_id !== client.id) throw new OAuthError("invalid_grant", REFUSED);
    const answer = await tryRotate(as, entry, id, presented, form.get("scope"));
    if (answer) {
      as.observe({
        type: "token_issued",
        grant_type: "refresh_token",
        client: client.id,
        user: entry.value.user,
      });
      return answer;
    }
  }
}

/** The answer, or `undefined` when another request changed the grant meanwhile. */
async function tryRotate(
  as: AuthorizationServer,
  entry: Entry<Grant>,
  id: string,
  presented: string,
  requested: string | undefined,
): Promise<TokenResponse | undefined> {
  const grant = entry.value;
  const digest = secretDigest(presented);
  if (!grant.refresh || !equalInConstantTime(digest, grant.refresh.digest)) {
    return await answerAgain(as, entry, digest, presented);
  }
  if (grant.refresh.expires <= as.now()) throw new OAuthError("invalid_grant", REFUSED);
  const scope = narrowScope(grant.scope, requested);
  const { client_id, user } = grant;
  const { access_token, put } = await mintAccessToken(as, { client_id, scope, user, grant: id });
  const next = mintRefreshToken(id);
  const answer: TokenResponse = {
    access_token,
    token_type: "Bearer",
    expires_in: as.accessTokenLifetime,
    refresh_token: next.refresh_token,
    scope,
  };
  const expires = as.now() + as.refreshTokenLifetime * 1000;
  const value: Grant = {
    ...grant,
    refresh: { digest: next.digest, expires },
    previous: {
      digest,
      until: as.now() + as.refreshRetryGrace * 1000,
      // Only who holds the old token can read it, so the store keeps no token in the clear.
      answer: await seal(new TextEncoder().encode(presented), PURPOSE, JSON.stringify(answer)),
    },
  };
  const set = [{ key: entry.key, value, expires }, ...(put ? [put] : [])];
  return await as.store.commit({ check: [{ key: entry.key, version: entry.version }], set })
    ? answer
    : undefined;
}

/** A token that is not the current one: within the grace its old answer, else the end of the family. */
async function answerAgain(
  as: AuthorizationServer,
  { key, value: { previous, client_id, user } }: Entry<Grant>,
  digest: string,
  presented: string,
): Promise<TokenResponse> {
  if (previous && equalInConstantTime(digest, previous.digest) && previous.until > as.now()) {
    const answer = await unseal(new TextEncoder().encode(presented), PURPOSE, previous.answer);
    if (answer !== undefined) return JSON.parse(answer);
  }
  await as.store.commit({ remove: [key] });
  as.observe({ type: "refresh_replayed", client: client_id, user });
  throw new OAuthError("invalid_grant", REFUSED);
}
