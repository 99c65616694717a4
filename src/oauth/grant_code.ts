/**
 * The authorization code grant (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3): every check first, then
 * one commit that spends the code and stores the tokens. Its answer decides a race, not a read before it.
 *
 * @module
 */
import { secretDigest } from "../crypto/secret.ts";
import type { Entry } from "../store/store.ts";
import { mintAccessToken } from "./access_token.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { OAuthError } from "./error.ts";
import { verifierMatches } from "./pkce.ts";
import { type Client, type Code, codeKey, type Grant, grantKey } from "./records.ts";
import { mintRefreshToken } from "./refresh_token.ts";
import type { TokenForm, TokenResponse } from "./token_response.ts";

/** One text for unknown, foreign, used and expired codes: which it was is nobody's business. */
const REFUSED = "The code is unknown, used or expired, or was not issued to this client";

/** Access and refresh token for a code. @throws {OAuthError} invalid_grant, invalid_request */
export async function grantCode(
  as: AuthorizationServer,
  client: Client,
  form: TokenForm,
): Promise<TokenResponse> {
  const secret = form.get("code");
  if (!secret) throw new OAuthError("invalid_request", "code is missing");
  const entry = await as.store.get<Code>(codeKey(secretDigest(secret)));
  // RFC 6749 §4.1.3: the code is bound to the client that asked for it.
  if (!entry || entry.value.client_id !== client.id) throw new OAuthError("invalid_grant", REFUSED);
  const code = entry.value;
  if (code.spent) return await refuseReplay(as, code);
  if (code.until <= as.now()) throw new OAuthError("invalid_grant", REFUSED);
  checkRedirectUri(code, form.get("redirect_uri"));
  if (!verifierMatches(code.code_challenge, form.get("code_verifier"))) {
    // Who guesses gets one guess.
    await spend(as, entry, {});
    throw new OAuthError("invalid_grant", "code_verifier does not match the code_challenge of the request");
  }

  const { grant, user, scope } = code;
  const { access_token, put } = await mintAccessToken(as, { client_id: client.id, scope, user, grant });
  const refresh = client.grant_types.includes("refresh_token") ? mintRefreshToken(grant) : undefined;
  const lives = as.now() + (refresh ? as.refreshTokenLifetime : as.accessTokenLifetime) * 1000;
  const value: Grant = {
    user,
    client_id: client.id,
    scope,
    created: as.now(),
    ...(refresh && { refresh: { digest: refresh.digest, expires: lives } }),
  };
  const set = [{ key: grantKey(grant), value, expires: lives }, ...(put ? [put] : [])];
  if (!await spend(as, entry, { set })) return await refuseReplay(as, code);
  as.observe({ type: "token_issued", grant_type: "authorization_code", client: client.id, user });
  return {
    access_token,
    token_type: "Bearer",
    expires_in: as.accessTokenLifetime,
    ...(refresh && { refresh_token: refresh.refresh_token }),
    scope,
  };
}

function checkRedirectUri(code: Code, redirect_uri: string | undefined): void {
  if (redirect_uri === undefined && code.redirect_uri_sent) {
    throw new OAuthError(
      "invalid_request",
      "redirect_uri is missing: send the one of the authorization request",
    );
  }
  if (redirect_uri !== undefined && redirect_uri !== code.redirect_uri) {
    throw new OAuthError("invalid_grant", "redirect_uri differs from the one of the authorization request");
  }
}

/** Marks the code, keeping the record so that a replay is seen. `false`: somebody else was first. */
function spend(
  as: AuthorizationServer,
  { key, version, value }: Entry<Code>,
  { set = [] }: { set?: readonly { key: Entry["key"]; value: unknown; expires?: number | undefined }[] },
): Promise<boolean> {
  const expires = as.now() + 10 * 60 * 1000;
  return as.store.commit({
    check: [{ key, version }],
    set: [{ key, value: { ...value, spent: true }, expires }, ...set],
  });
}

// RFC 6749 §4.1.2: a code that comes twice has been seen by somebody else; what it gave is taken back.
async function refuseReplay(as: AuthorizationServer, code: Code): Promise<never> {
  await as.store.commit({ remove: [grantKey(code.grant)] });
  as.observe({ type: "code_replayed", client: code.client_id, user: code.user });
  throw new OAuthError("invalid_grant", REFUSED);
}
