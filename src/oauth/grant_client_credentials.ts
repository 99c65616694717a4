/**
 * The client credentials grant (https://www.rfc-editor.org/rfc/rfc6749#section-4.4): a client acts for itself.
 *
 * @module
 */
import { mintAccessToken } from "./access_token.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import type { Client } from "./records.ts";
import { grantScope } from "./scope.ts";
import type { TokenForm, TokenResponse } from "./token_response.ts";

/** An access token without a user; no refresh token (RFC 6749 §4.4.3). */
export async function grantClientCredentials(
  as: AuthorizationServer,
  client: Client,
  form: TokenForm,
): Promise<TokenResponse> {
  const scope = grantScope(as, client, form.get("scope"));
  const { access_token, put } = await mintAccessToken(as, { client_id: client.id, scope });
  if (put) await as.store.commit({ set: [put] });
  as.observe({ type: "token_issued", grant_type: "client_credentials", client: client.id });
  return { access_token, token_type: "Bearer", expires_in: as.accessTokenLifetime, scope };
}
