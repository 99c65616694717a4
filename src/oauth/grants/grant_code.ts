/**
 * The authorization code grant (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3). All checks come first. Then one
 * commit consumes the code and stores the tokens, so of two concurrent requests one succeeds.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { Entry, Put } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { isPublic } from "../clients/client.ts";
import { findRedirectUri } from "../clients/redirect_uri.ts";
import type { TokenCall, TokenResponse } from "./token_response.ts";
import { OAuthError } from "../error.ts";
import type { AuthorizationRequest } from "../records/authorization_record.ts";
import { type Code, codeKey } from "../records/grant_record.ts";
import type { Mutable } from "../records/token_record.ts";
import { findLiveUser, isOfClient } from "../tokens/liveness.ts";
import { findRefreshKey } from "../tokens/refresh_token.ts";
import { grantKeys } from "../users/user_grants.ts";
import { REPLAY_RETENTION_MS } from "./code.ts";
import { startGrant } from "./grant.ts";
import { findVerifierProblem } from "./pkce.ts";

/** One text for all codes that are not valid: a stranger must not learn which of them exist. */
const REFUSED = "The authorization code is invalid, expired or already used, or was issued to another client";

/** Access and refresh token for a code. @throws {OAuthError} invalid_grant, invalid_request */
export async function grantCode(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form, cnf } = call;
  const secret = form.get("code");
  if (!secret) throw new OAuthError("invalid_request", "code is missing");
  const code = await as.store.get<Code>(codeKey(secretDigest(secret)));
  // RFC 6749 §4.1.3: the code is bound to the client that requested it.
  if (!code || !await isOfClient(as, code.value, client, code.value.unspent?.given)) {
    throw new OAuthError("invalid_grant", REFUSED);
  }
  const { user, grant, unspent } = code.value;
  if (!unspent) return await refuseReplay(as, code.value, form.get("code_verifier"));
  const { request, authentication, until, given } = unspent;
  if (until <= as.now()) throw new OAuthError("invalid_grant", REFUSED);
  checkRedirectUri(request, form.get("redirect_uri"));
  const problem = findVerifierProblem(request.code_challenge, form.get("code_verifier"));
  if (problem !== undefined) {
    // A wrong verifier consumes the code, so that there is one guess.
    await consumeCode(as, code);
    throw new OAuthError("invalid_grant", problem);
  }
  // RFC 9449 §10: a code that was requested with a key can be redeemed only with that key.
  if (request.dpop_jkt !== undefined && request.dpop_jkt !== cnf?.jkt) {
    throw new OAuthError(
      "invalid_grant",
      "The authorization code is bound to a DPoP key. Send a proof signed with that key",
    );
  }
  // The client may have changed since the authorization request: its present registration decides.
  const owner = await findLiveUser(as, user, given);
  if (
    findRedirectUri(client, request.redirect_uri) === undefined ||
    isPublic(client) && request.code_challenge === undefined || !owner
  ) throw new OAuthError("invalid_grant", REFUSED);
  const key = findRefreshKey(as);
  const response = await startGrant(as, call, key instanceof Promise ? await key : key, {
    grant_type: "authorization_code",
    code,
    consumed: toConsumed(as, code),
    grant,
    user,
    owner,
    authorization: request,
    authentication,
    given,
    openid: request.openid,
  });
  return response ?? await refuseReplay(as, code.value, form.get("code_verifier"));
}

function checkRedirectUri(request: AuthorizationRequest, redirect_uri: string | undefined): void {
  // The OAuth 2.1 draft drops this parameter: PKCE binds the two requests to each other as well.
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

/** Consumes the code without issuing tokens. `false` when another request consumed it first. */
function consumeCode(as: AuthorizationServer, code: Entry<Code>): Promise<boolean> {
  const { key, version } = code;
  return as.store.commit({ check: [{ key, version }], set: [toConsumed(as, code)] });
}

/** What stays of a consumed code, so that a replay is recognized. */
function toConsumed(
  as: AuthorizationServer,
  { key, value: { client_id, client_since, user, grant, unspent } }: Entry<Code>,
): Put {
  const value: Mutable<Code> = { client_id, user, grant };
  if (client_since !== undefined) value.client_since = client_since;
  const code_challenge = unspent?.request.code_challenge;
  if (code_challenge !== undefined) value.code_challenge = code_challenge;
  return { key, value, expires: as.now() + REPLAY_RETENTION_MS };
}

/**
 * RFC 6749 §4.1.2: a code that is used twice was stolen, so its tokens are revoked. OAuth 2.1 draft §7.5.3: not by a
 * request without the right verifier, with which anyone who read the code could end the client's access.
 */
async function refuseReplay(
  as: AuthorizationServer,
  { grant, client_id, user, code_challenge }: Code,
  code_verifier: string | undefined,
): Promise<never> {
  const isValid = code_challenge === undefined ||
    findVerifierProblem(code_challenge, code_verifier) === undefined;
  if (isValid) await as.store.commit({ remove: grantKeys(user, grant) });
  as.observe({ type: "code_replayed", client: client_id, user });
  throw new OAuthError("invalid_grant", REFUSED);
}
