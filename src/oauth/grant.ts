/**
 * The start of a family of tokens, whatever it was that the user answered: a code, or a device.
 *
 * @module
 */
import type { Put } from "../store/store.ts";
import { mintAccessToken } from "./access_token.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { narrowAuthorizationDetails } from "./authorization_details.ts";
import { isPublic } from "./client.ts";
import { type Authentication, type Authorization, type Grant, grantKey } from "./records.ts";
import { mintRefreshToken } from "./refresh_token.ts";
import { narrowResources, scopeFor } from "./resource.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "./token_response.ts";

/** What a user allowed. */
export interface Allowed {
  /** The id of the grant that begins. */
  readonly grant: string;
  readonly user: string;
  readonly authorization: Authorization;
  readonly authentication: Authentication | undefined;
}

/**
 * Access and refresh token for what a user allowed, and what must be stored before they are handed out.
 * @throws {OAuthError} invalid_target, invalid_scope or invalid_authorization_details when more is asked
 */
export async function startGrant(
  as: AuthorizationServer,
  { client, form, cnf }: TokenCall,
  { grant, user, authorization, authentication }: Allowed,
): Promise<{ response: TokenResponse; set: readonly Put[] }> {
  const { client_id, resource, authorization_details } = authorization;
  const narrowed = narrowResources(as, resource, form.all("resource"));
  const details = narrowAuthorizationDetails(
    as,
    client,
    authorization_details,
    form.get("authorization_details"),
  );
  const scope = scopeFor(as, narrowed, authorization.scope);
  const { access_token, put, expires_in } = await mintAccessToken(as, client, {
    user,
    grant,
    scope,
    ...(narrowed && { resource: narrowed }),
    ...(details && { authorization_details: details }),
    ...(authentication && { authentication }),
    ...(cnf && { cnf }),
  });
  const refresh = client.grant_types.includes("refresh_token") ? mintRefreshToken(grant) : undefined;
  const until = as.now() + as.grantLifetime * 1000;
  const lives = Math.min(until, as.now() + (refresh ? as.refreshTokenLifetime : expires_in) * 1000);
  const value: Grant = {
    client_id,
    user,
    scope: authorization.scope,
    ...(resource && { resource }),
    ...(authorization_details && { authorization_details }),
    ...(authentication && { authentication }),
    // RFC 9449 §5: a confidential client's refresh tokens are bound to its credentials already.
    ...(cnf && isPublic(client) && { cnf }),
    created: as.now(),
    until,
    ...(refresh && { refresh: { digest: refresh.digest, expires: lives } }),
  };
  return {
    response: {
      access_token,
      token_type: tokenTypeOf(cnf),
      expires_in,
      ...(refresh && { refresh_token: refresh.refresh_token }),
      scope,
      ...(details && { authorization_details: details }),
    },
    set: [{ key: grantKey(grant), value, expires: lives }, ...(put ? [put] : [])],
  };
}
