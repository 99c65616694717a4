/**
 * The start of a family of tokens: a user allowed a client something, and the client redeems a code or a device code.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Check, Entry, Put } from "../../store/store.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { isPublic } from "../clients/client.ts";
import { OAuthError } from "../error.ts";
import type { TokenCall, TokenResponse } from "./token_response.ts";
import type { Authentication, Authorization, OpenIdRequest } from "../records/authorization_record.ts";
import type { GrantType } from "../records/client_record.ts";
import { type EndedGrants, endedGrantsKey, type Grant, grantKey } from "../records/grant_record.ts";
import type { Mutable } from "../records/token_record.ts";
import type { Profile } from "../records/user_record.ts";
import type { AccessTokenRequest } from "../tokens/access_token.ts";
import { clientSince } from "../tokens/liveness.ts";
import { mintRefreshToken, type RefreshKey } from "../tokens/refresh_token.ts";
import { toUserGrant } from "../users/user_grants.ts";
import { requireRole } from "../users/user_role.ts";
import { narrowAuthorizationDetails } from "./authorization_details.ts";
import { isGrantEnded } from "./ended_grants.ts";
import { type FamilyChange, issueTokens } from "./issue_tokens.ts";
import { limitToResources, narrowResources } from "./resource.ts";
import { limitToClient } from "./scope.ts";

/** Loaded with the first grant with the scope `openid`. */
export const createIdToken: typeof import("../openid/id_token.ts").createIdToken = loadOnDemand(async () =>
  (await import("../openid/id_token.ts")).createIdToken
);

/** What a user allowed, and the code that stands for it. */
export interface Allowed {
  readonly grant_type: GrantType;
  /** The code, as it was read. */
  readonly code: Entry<unknown>;
  /** The code as it is stored once it is consumed. */
  readonly consumed: Put;
  /** The id of the new grant. */
  readonly grant: string;
  readonly user: string;
  /** What the user may grant today. */
  readonly owner: Profile;
  readonly authorization: Authorization;
  readonly authentication: Authentication | undefined;
  /** When the user allowed it. */
  readonly given: number | undefined;
  /** Present when the scope `openid` was allowed. */
  readonly openid?: OpenIdRequest | undefined;
}

/**
 * Consumes the code and issues access and refresh token for what the user allowed.
 * @returns `undefined` when another request consumed the code first
 * @throws {OAuthError} invalid_grant when the user's role allows none of it, or the user has taken it back; invalid_target,
 * invalid_scope or invalid_authorization_details when the request exceeds it
 */
export function startGrant(
  as: AuthorizationServer,
  call: TokenCall,
  refreshKey: RefreshKey,
  { grant_type, code, consumed, grant, user, owner, authorization, authentication, given, openid: asked }:
    Allowed,
): Promise<TokenResponse | undefined> {
  const { client, form, cnf } = call;
  const { client_id, resource, authorization_details } = authorization;
  const narrowed = narrowResources(as, resource, form.all("resource"));
  const details = narrowAuthorizationDetails(
    as,
    client,
    authorization_details,
    form.get("authorization_details"),
  );
  const granted = requireRole(as, owner, limitToClient(as, client, authorization.scope), "invalid_grant");
  const request: Mutable<AccessTokenRequest> = {
    user,
    grant,
    scope: limitToResources(as, narrowed, granted),
  };
  if (narrowed) request.resource = narrowed;
  if (details) request.authorization_details = details;
  if (authentication) request.authentication = authentication;
  if (cnf) request.cnf = cnf;
  // Absent when OpenID Connect was turned off since.
  const { nonce, ...openid } = as.openid && asked || {};
  const refresh = client.grant_types.includes("refresh_token")
    ? mintRefreshToken(refreshKey, grant)
    : undefined;
  const created = as.now();
  const until = created + as.grantLifetime * 1000;
  const family: FamilyChange = {
    used: code,
    starts: { grant, created },
    until,
    refresh_token: refresh?.refresh_token,
    toIdToken: as.openid && asked &&
      ((access_token) =>
        createIdToken(as, client, {
          user: owner,
          authentication,
          openid,
          nonce,
          access_token,
          scope: request.scope,
        })),
    toRecords({ expires_in }) {
      const refreshLifetime = refresh ? as.refreshTokenLifetime : 0;
      // As long as its longest token: all of them end with the record.
      const expires = Math.min(until, created + Math.max(refreshLifetime, expires_in) * 1000);
      const value: Mutable<Grant> = { client_id, user, scope: granted, created, used: created, until };
      const since = clientSince(as, client);
      if (since !== undefined) value.client_since = since;
      if (resource) value.resource = resource;
      if (authorization_details) value.authorization_details = authorization_details;
      if (authentication) value.authentication = authentication;
      if (as.openid && asked) value.openid = openid;
      // RFC 9449 §5, RFC 8705 §4: a confidential client's refresh tokens are bound to its credentials already.
      if (!isPublic(client)) value.confidential = true;
      else if (cnf) value.cnf = cnf;
      if (refresh) {
        value.refresh = {
          digest: refresh.digest,
          expires: Math.min(until, created + refreshLifetime * 1000),
        };
      }
      const index = toUserGrant(as, grant, value, expires)!;
      return [consumed, { key: grantKey(grant), value, expires }, index];
    },
  };
  return unlessEnded(
    as,
    code,
    { user, client_id, given },
    (check) => issueTokens(as, call, grant_type, request, { ...family, check }),
  );
}

/**
 * Issues tokens in a commit with the check that the user has not taken back what they allowed. The record of that is read
 * only when the commit fails: few users have one.
 * @returns `undefined` when another request consumed the code first
 */
function unlessEnded(
  as: AuthorizationServer,
  code: Entry<unknown>,
  { user, client_id, given }: Pick<Allowed, "user" | "given"> & Pick<Authorization, "client_id">,
  issue: (check: Check) => Promise<TokenResponse | undefined>,
): Promise<TokenResponse | undefined> {
  const key = endedGrantsKey(user);
  let version: string | null = null;
  return retryLostRaces(async () => {
    const response = await issue({ key, version });
    if (response) return response;
    const [ended, present] = await Promise.all([
      as.store.get<EndedGrants>(key),
      as.store.get(code.key),
    ]);
    if (present?.version !== code.version) return undefined;
    if (ended && isGrantEnded(ended.value, client_id, given)) {
      throw new OAuthError("invalid_grant", "The user has taken back the access of this client");
    }
    version = ended?.version ?? null;
    return LOST_RACE;
  });
}
