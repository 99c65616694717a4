/**
 * The client credentials grant (https://www.rfc-editor.org/rfc/rfc6749#section-4.4): a client acts for itself.
 *
 * @module
 */
import { type AccessTokenRequest, mintAccessToken } from "../tokens/access_token.ts";
import { parseAuthorizationDetails } from "./authorization_details.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Mutable } from "../records.ts";
import { findResources, scopeFor } from "./resource.ts";
import { grantScope } from "./scope.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "../endpoints/token_response.ts";

/** An access token without a user; no refresh token (RFC 6749 §4.4.3). */
export async function grantClientCredentials(
  as: AuthorizationServer,
  { client, form, cnf }: TokenCall,
): Promise<TokenResponse> {
  const resource = findResources(as, form.all("resource"));
  const scope = scopeFor(as, resource, grantScope(as, client, form.get("scope")));
  const authorization_details = parseAuthorizationDetails(as, client, form.get("authorization_details"));
  const asked: Mutable<AccessTokenRequest> = { scope };
  if (resource) asked.resource = resource;
  if (authorization_details) asked.authorization_details = authorization_details;
  if (cnf) asked.cnf = cnf;
  const { access_token, put, expires_in } = await mintAccessToken(as, client, asked);
  if (put) await as.store.commit({ set: [put] });
  as.observe({ type: "token_issued", grant_type: "client_credentials", client: client.id });
  const response: Mutable<TokenResponse> = { access_token, token_type: tokenTypeOf(cnf), expires_in, scope };
  if (authorization_details) response.authorization_details = authorization_details;
  return response;
}
