/**
 * The start of a family of tokens, whatever it was that the user answered: a code, or a device.
 *
 * @module
 */
import type { Put } from "../../store/store.ts";
import { type AccessTokenRequest, mintAccessToken } from "../tokens/access_token.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { narrowAuthorizationDetails } from "./authorization_details.ts";
import { isPublic } from "../clients/client.ts";
import { clientSince } from "../tokens/liveness.ts";
import {
  type Authentication,
  type Authorization,
  type Grant,
  grantKey,
  type Mutable,
  type Profile,
} from "../records.ts";
import { findRefreshKey, mintRefreshToken } from "../tokens/refresh_token.ts";
import { narrowResources, scopeFor } from "./resource.ts";
import { narrowToClient } from "./scope.ts";
import { type TokenCall, type TokenResponse, tokenTypeOf } from "../endpoints/token_response.ts";
import { requireRole } from "../users/user_role.ts";

/** What a user allowed. */
export interface Allowed {
  /** The id of the grant that begins. */
  readonly grant: string;
  readonly user: string;
  /** What the user may grant today. */
  readonly owner: Pick<Profile, "role">;
  readonly authorization: Authorization;
  readonly authentication: Authentication | undefined;
}

/**
 * Access and refresh token for what a user allowed, and what must be stored before they are handed out.
 * @throws {OAuthError} invalid_grant when the user's role allows nothing of it; invalid_target, invalid_scope or invalid_authorization_details when more is asked
 */
export async function startGrant(
  as: AuthorizationServer,
  { client, form, cnf }: TokenCall,
  { grant, user, owner, authorization, authentication }: Allowed,
): Promise<{ response: TokenResponse; set: readonly Put[] }> {
  const { client_id, resource, authorization_details } = authorization;
  const narrowed = narrowResources(as, resource, form.all("resource"));
  const details = narrowAuthorizationDetails(
    as,
    client,
    authorization_details,
    form.get("authorization_details"),
  );
  const granted = requireRole(as, owner, narrowToClient(as, client, authorization.scope), "invalid_grant");
  const scope = scopeFor(as, narrowed, granted);
  const asked: Mutable<AccessTokenRequest> = { user, grant, scope };
  if (narrowed) asked.resource = narrowed;
  if (details) asked.authorization_details = details;
  if (authentication) asked.authentication = authentication;
  if (cnf) asked.cnf = cnf;
  const { access_token, put, expires_in } = await mintAccessToken(as, client, asked);
  let refresh: ReturnType<typeof mintRefreshToken> | undefined;
  if (client.grant_types.includes("refresh_token")) {
    const key = findRefreshKey(as);
    refresh = mintRefreshToken(key instanceof Promise ? await key : key, grant);
  }
  const created = as.now();
  const until = created + as.grantLifetime * 1000;
  const lives = Math.min(until, created + (refresh ? as.refreshTokenLifetime : expires_in) * 1000);
  const value: Mutable<Grant> = { client_id, user, scope: granted, created, until };
  const since = clientSince(as, client);
  if (since !== undefined) value.client_since = since;
  if (resource) value.resource = resource;
  if (authorization_details) value.authorization_details = authorization_details;
  if (authentication) value.authentication = authentication;
  // RFC 9449 §5, RFC 8705 §4: a confidential client's refresh tokens are bound to its credentials already.
  if (!isPublic(client)) value.confidential = true;
  else if (cnf) value.cnf = cnf;
  if (refresh) value.refresh = { digest: refresh.digest, expires: lives };
  const token_type = tokenTypeOf(cnf);
  const response: Mutable<TokenResponse> = refresh
    ? { access_token, token_type, expires_in, refresh_token: refresh.refresh_token, scope }
    : { access_token, token_type, expires_in, scope };
  if (details) response.authorization_details = details;
  const root = { key: grantKey(grant), value, expires: lives };
  return { response, set: put ? [root, put] : [root] };
}
