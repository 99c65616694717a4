/**
 * Checks the access token of a request to a protected resource (https://www.rfc-editor.org/rfc/rfc6750 and
 * https://www.rfc-editor.org/rfc/rfc9449#section-7).
 *
 * @module
 */
import type { TokenRefusal } from "../../http/bearer.ts";
import type { Principal } from "../../http/principal.ts";
import type { LimitedCaller } from "../../http/rate_limit.ts";
import type { RequestContext } from "../../http/service.ts";
import { findAccessToken, type LiveAccessToken } from "./access_token.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { AccessToken } from "../records/token_record.ts";
import { isForResource } from "../grants/resource.ts";
import { expandScopes } from "../grants/scope.ts";
import { checkPossession, readPresentedToken, refuseToken } from "./possession.ts";

/** The one workspace of all users of this server. */
const WORKSPACE = "default";
const UNKNOWN = "The access token is invalid, expired or revoked";
/** Expanded scopes by their text: there are few, and every request needs them. */
const expanded = new WeakMap<AuthorizationServer, Map<string, ReadonlySet<string>>>();
const MAX_CACHED_SCOPES = 1000;

/** Who a token stands for that needs no proof beside it; `undefined` when it is not good for this server. */
export async function verifyAccessToken(
  as: AuthorizationServer,
  presented: string,
): Promise<Principal | undefined> {
  const token = (await findAccessToken(as, presented))?.token;
  return token && !token.cnf && isForResource(as, token.resource, as.issuer)
    ? toPrincipal(as, token, presented)
    : undefined;
}

/** The principal of a request with an access token for `resource`; `"none"` without a token. */
export function identifyCaller(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  resource: string,
): Promise<Principal | "none" | TokenRefusal> {
  return checkRequest(as, request, context, resource, ({ token }, text) => toPrincipal(as, token, text));
}

/** As {@linkcode identifyCaller}, for this server's own endpoints: what `toCaller` makes of a token that is good. */
export async function checkRequest<Caller>(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  resource: string,
  toCaller: (live: LiveAccessToken, presented: string) => Caller,
): Promise<Caller | "none" | TokenRefusal> {
  const presented = readPresentedToken(request);
  if (!presented) return "none";
  const live = await findAccessToken(as, presented.text);
  if (!live) return refuseToken(presented, UNKNOWN, as);
  const { token } = live;
  if (!isForResource(as, token.resource, resource)) {
    return refuseToken(presented, `The access token was not issued for ${resource}`, as);
  }
  // Without a call for the tokens that need none: most.
  const isBound = token.cnf !== undefined || presented.isDpop;
  const refusal = isBound && await checkPossession(as, request, context, presented, token.cnf);
  return refusal || toCaller(live, presented.text);
}

function toPrincipal(as: AuthorizationServer, token: AccessToken, presented: string): Principal {
  const { client_id, scope, user, resource, expires, authentication, authorization_details } = token;
  const scopes = scopesOf(as, scope);
  const principal: { -readonly [Name in keyof Principal]: Principal[Name] } = {
    client: client_id,
    scopes,
    workspace: WORKSPACE,
    expires,
    async isStillValid() {
      const live = await findAccessToken(as, presented);
      if (!live) return false;
      // The role of the user may be lower than at the start of the request.
      const current = scopesOf(as, live.token.scope);
      return [...scopes].every((each) => current.has(each));
    },
  };
  if (user !== undefined) principal.subject = user;
  if (resource) principal.audience = resource;
  if (authentication) {
    principal.authTime = authentication.auth_time;
    principal.acr = authentication.acr;
  }
  if (authorization_details) principal.authorizationDetails = authorization_details;
  return principal;
}

/** Whom limits count for a request with the token. */
export function toLimitedCaller({ client_id, user }: AccessToken): LimitedCaller {
  return user === undefined ? { client: client_id } : { client: client_id, subject: user };
}

/** The scopes of a token and all that they imply. */
export function scopesOf(as: AuthorizationServer, scope: string): ReadonlySet<string> {
  let known = expanded.get(as);
  if (!known) expanded.set(as, known = new Map());
  let scopes = known.get(scope);
  if (!scopes) {
    if (known.size >= MAX_CACHED_SCOPES) known.clear();
    known.set(scope, scopes = expandScopes(as, scope.split(" ")));
  }
  return scopes;
}
