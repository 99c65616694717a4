/**
 * Who makes a request, and the functions by which a service finds out. A service does not know how a token is made.
 *
 * @module
 */
import type { TokenRefusal } from "./bearer.ts";
import type { RequestContext } from "./service.ts";

/** The caller of a request and its permissions. */
export interface Principal {
  /** The user for whom the call is made; absent when a client or an API key acts for itself. */
  readonly subject?: string;
  /** The issuer of the token, where it is another server: `subject` and `client` are unique within it. */
  readonly issuer?: string;
  /** The OAuth client or API key that makes the call. */
  readonly client?: string;
  readonly scopes: ReadonlySet<string>;
  /** The workspace whose skills and data the call may use. */
  readonly workspace: string;
  /** The resources that the token was issued for (RFC 8707); absent when it is valid for the whole server. */
  readonly audience?: readonly string[];
  /** When the token expires, in milliseconds since the epoch. */
  readonly expires?: number;
  /** When the user signed in, in seconds since the epoch (RFC 9470 section 6). */
  readonly authTime?: number;
  /** How the user signed in (RFC 9470 section 6). */
  readonly acr?: string;
  /** What the user granted beyond scopes (RFC 9396). */
  readonly authorizationDetails?: readonly Readonly<Record<string, unknown>>[];
  /**
   * Whether the token or key is still valid, with its scopes. Streams that stay open longer than a request call it at
   * intervals, and requests with a large body before they change anything.
   */
  readonly isStillValid?: () => Promise<boolean>;
}

/** The principal that a bearer token identifies; `undefined` when the token is unknown, expired or revoked. */
export type VerifyToken = (token: string) => Promise<Principal | undefined>;

/**
 * The principal that makes the request; `"none"` without credentials, a refusal for invalid ones. Both are truthy, so this is
 * for the services alone: users call `authenticate` and `protect` (`protect.ts`). At once for a request without credentials,
 * where nothing must be read.
 */
export type IdentifyCaller = (
  request: Request,
  context?: RequestContext,
) => Promise<Principal | "none" | TokenRefusal> | "none";

/**
 * Whether the principal has a scope, by itself or as one that another implies. `admin` stands for every scope, except in a
 * token of another issuer, who may mean something else by it.
 */
export function hasScope(
  { scopes, issuer }: Principal,
  scope: string,
  implied: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  if (scopes.has(scope) || issuer === undefined && scopes.has("admin")) return true;
  for (const each of scopes) if (implied.get(each)?.has(scope)) return true;
  return false;
}

/** Each scope with all scopes that it implies, directly or through others, itself included. */
export function closeScopes(
  implies: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    Object.keys(implies).map((name) => {
      const all = new Set([name]);
      // The loop also visits what is added during it.
      for (const each of all) {
        for (const other of Object.hasOwn(implies, each) ? implies[each]! : []) all.add(other);
      }
      return [name, all];
    }),
  );
}
