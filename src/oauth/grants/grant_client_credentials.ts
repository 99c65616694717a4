/**
 * The client credentials grant (https://www.rfc-editor.org/rfc/rfc6749#section-4.4): a client acts for itself.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import type { TokenCall, TokenResponse } from "./token_response.ts";
import type { Mutable } from "../records/token_record.ts";
import type { AccessTokenRequest } from "../tokens/access_token.ts";
import { parseAuthorizationDetails } from "./authorization_details.ts";
import { issueTokens } from "./issue_tokens.ts";
import { findResources, limitToResources } from "./resource.ts";
import { grantScope } from "./scope.ts";

/** An access token without a user; no refresh token (RFC 6749 §4.4.3). */
export function grantClientCredentials(as: AuthorizationServer, call: TokenCall): Promise<TokenResponse> {
  const { client, form, cnf } = call;
  const resource = findResources(as, form.all("resource"));
  const scope = limitToResources(as, resource, grantScope(as, client, form.get("scope")));
  const authorization_details = parseAuthorizationDetails(as, client, form.get("authorization_details"));
  const request: Mutable<AccessTokenRequest> = { scope };
  if (resource) request.resource = resource;
  if (authorization_details) request.authorization_details = authorization_details;
  if (cnf) request.cnf = cnf;
  return issueTokens(as, call, "client_credentials", request);
}
