/**
 * The authorization code grant (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3): every check first, then
 * one commit that spends the code and stores the tokens. Its answer decides a race, not a read before it.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { Entry, Put } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { isPublic } from "../clients/client.ts";
import { startGrant } from "./grant.ts";
import { findLiveUser, isOfClient } from "../tokens/liveness.ts";
import { findVerifierProblem } from "./pkce.ts";
import { type AuthorizationRequest, type Code, codeKey, grantKey, type Mutable } from "../records.ts";
import { findRedirectUri } from "../clients/redirect_uri.ts";
import type { TokenCall, TokenResponse } from "../endpoints/token_response.ts";

/** One text for unknown, foreign, used and expired codes: which it was is nobody's business. */
const REFUSED = "The authorization code is invalid, expired or already used, or was issued to another client";
/** How long a spent code is remembered, in milliseconds. */
const MEMORY = 10 * 60 * 1000;

/** Access and refresh token for a code. @throws {OAuthError} invalid_grant, invalid_request */
export async function grantCode(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form, cnf } = call;
  const secret = form.get("code");
  if (!secret) throw new OAuthError("invalid_request", "code is missing");
  const entry = await as.store.get<Code>(codeKey(secretDigest(secret)));
  // RFC 6749 §4.1.3: the code is bound to the client that asked for it.
  if (!entry || !isOfClient(as, entry.value, client)) throw new OAuthError("invalid_grant", REFUSED);
  const { user, grant, unspent } = entry.value;
  if (!unspent) return await refuseReplay(as, entry.value);
  const { request, authentication, until } = unspent;
  if (until <= as.now()) throw new OAuthError("invalid_grant", REFUSED);
  checkRedirectUri(request, form.get("redirect_uri"));
  const problem = findVerifierProblem(request.code_challenge, form.get("code_verifier"));
  if (problem !== undefined) {
    // Who guesses gets one guess.
    await spend(as, entry, []);
    throw new OAuthError("invalid_grant", problem);
  }
  // RFC 9449 §10: a code that was asked for with a key is good with that key only.
  if (request.dpop_jkt !== undefined && request.dpop_jkt !== cnf?.jkt) {
    throw new OAuthError(
      "invalid_grant",
      "The authorization code is bound to a DPoP key. Send a proof signed with that key",
    );
  }
  // What the client is now decides, not what it was when it asked.
  const owner = await findLiveUser(as, user);
  if (
    findRedirectUri(client, request.redirect_uri) === undefined ||
    isPublic(client) && request.code_challenge === undefined || !owner
  ) throw new OAuthError("invalid_grant", REFUSED);
  const { response, set } = await startGrant(as, call, {
    grant,
    user,
    owner,
    authorization: request,
    authentication,
  });
  if (!await spend(as, entry, set)) return await refuseReplay(as, entry.value);
  as.observe({ type: "token_issued", grant_type: "authorization_code", client: client.id, user });
  return response;
}

function checkRedirectUri(request: AuthorizationRequest, redirect_uri: string | undefined): void {
  // The OAuth 2.1 draft has it sent no more: PKCE ties the two requests together as well.
  if (redirect_uri === undefined && request.redirect_uri_sent && request.code_challenge === undefined) {
    throw new OAuthError(
      "invalid_request",
      "redirect_uri is missing. Send the redirect_uri of the authorization request",
    );
  }
  if (redirect_uri !== undefined && redirect_uri !== request.redirect_uri) {
    throw new OAuthError("invalid_grant", "redirect_uri does not match the authorization request");
  }
}

/** Leaves of the code what a replay is known by. `false`: somebody else was first. */
function spend(
  as: AuthorizationServer,
  { key, version, value: { client_id, client_since, user, grant } }: Entry<Code>,
  set: readonly Put[],
): Promise<boolean> {
  const value: Mutable<Code> = { client_id, user, grant };
  if (client_since !== undefined) value.client_since = client_since;
  return as.store.commit({
    check: [{ key, version }],
    set: [{ key, value, expires: as.now() + MEMORY }, ...set],
  });
}

// RFC 6749 §4.1.2: a code that comes twice has been seen by somebody else; what it gave is taken back.
async function refuseReplay(as: AuthorizationServer, { grant, client_id, user }: Code): Promise<never> {
  await as.store.commit({ remove: [grantKey(grant)] });
  as.observe({ type: "code_replayed", client: client_id, user });
  throw new OAuthError("invalid_grant", REFUSED);
}
