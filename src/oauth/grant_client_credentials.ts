/**
 * The client credentials grant (https://www.rfc-editor.org/rfc/rfc6749#section-4.4): a client acts for itself.
 *
 * @module
 */
import { mintAccessToken } from "./access_token.ts";
import { parseAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { findResources, scopeFor } from "./resource.ts";
import { grantScope } from "./scope.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "./token_response.ts";

/** An access token without a user; no refresh token (RFC 6749 §4.4.3). */
export async function grantClientCredentials(
  as: AuthorizationServer,
  { client, form, cnf }: TokenCall,
): Promise<TokenResponse> {
  const resource = findResources(as, form.all("resource"));
  const scope = scopeFor(as, resource, grantScope(as, client, form.get("scope")));
  const authorization_details = parseAuthorizationDetails(as, client, form.get("authorization_details"));
  const { access_token, put, expires_in } = await mintAccessToken(as, client, {
    scope,
    ...(resource && { resource }),
    ...(authorization_details && { authorization_details }),
    ...(cnf && { cnf }),
  });
  if (put) await as.store.commit({ set: [put] });
  as.observe({ type: "token_issued", grant_type: "client_credentials", client: client.id });
  return {
    access_token,
    token_type: tokenTypeOf(cnf),
    expires_in,
    scope,
    ...(authorization_details && { authorization_details }),
  };
}
