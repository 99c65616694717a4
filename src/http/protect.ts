/**
 * Guards routes beside the services with the same credentials: the caller, or the finished refusal
 * (https://www.rfc-editor.org/rfc/rfc6750#section-3, https://www.rfc-editor.org/rfc/rfc9470#section-3,
 * https://www.rfc-editor.org/rfc/rfc9728#section-5.1).
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../options/option_check.ts";
import { bearerChallenge, TokenRefusal } from "./bearer.ts";
import { hasScope, type IdentifyCaller, type Principal } from "./principal.ts";
import { type LimitedCaller, RateLimitError } from "./rate_limit.ts";
import { type Fields, jsonFields, NO_STORE, respondJson, STORE_UNAVAILABLE } from "./response.ts";
import type { RuntimeContext } from "./runtime_context.ts";
import type { RequestContext } from "./service.ts";

/** What a request must fulfil to be authenticated. */
export interface AuthenticateOptions {
  /** What the access token must be for (RFC 8707): the issuer, or another resource of this server. @default the issuer */
  readonly resource?: string;
}

/** What a request must fulfil to be let through. */
export interface ProtectOptions extends AuthenticateOptions {
  /** The scopes that the call needs, all of them. @default none */
  readonly scopes?: readonly string[];
  /** How the user must have signed in, one of these authentication context classes (RFC 9470). @default any */
  readonly acrValues?: readonly string[];
  /** The greatest number of seconds since the user signed in (RFC 9470). @default any */
  readonly maxAge?: number;
}

export interface Protection {
  /**
   * The caller that the access token or API key of a request identifies; `undefined` without credentials, or when they are
   * invalid, expired, revoked or for another resource.
   * @throws {TypeError} for a resource that is not configured, or an option that does not exist
   */
  authenticate(
    request: Request,
    options?: AuthenticateOptions,
    context?: RuntimeContext,
  ): Promise<Principal | undefined>;
  /**
   * The caller, or the response to send instead: 401 without valid credentials or a sufficient login, 403 without the
   * scopes, 429 over a limit of `rateLimits` for the client or the user, 503 while the store is unavailable.
   *
   * ```ts
   * const caller = await trivet.protect(request, { scopes: ["read"] });
   * if (caller instanceof Response) return caller;
   * ```
   * @throws {TypeError} for a resource that is not configured, or an option that does not exist
   */
  protect(
    request: Request,
    options?: ProtectOptions,
    context?: RuntimeContext,
  ): Promise<Principal | Response>;
}

export interface ProtectionOptions {
  /** The caller at a resource. */
  readonly identify: (resource: string) => IdentifyCaller;
  /** The resource where none is named. */
  readonly issuer: string;
  /** Each resource, and the address of its metadata; `undefined` where there is none. */
  readonly resources: ReadonlyMap<string, string | undefined>;
  /** What a scope implies, itself aside. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** Seconds after which to retry, for an error of a store that is unavailable. */
  readonly findRetryAfter: (error: unknown) => number | undefined;
  readonly toContext: (request: Request, given: RuntimeContext | undefined) => RequestContext;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Counts the requests of clients and users. @default no limits */
  readonly limiter?: {
    limitCaller(context: RequestContext, caller: LimitedCaller): Promise<void>;
  } | undefined;
}

const FIELDS = jsonFields(NO_STORE);
const SEND_TOKEN = "Send an access token: Authorization: Bearer <access token>";

const AUTHENTICATE_NAMES: Names<AuthenticateOptions> = { resource: "string" };
const NAMES: Names<ProtectOptions> = {
  ...AUTHENTICATE_NAMES,
  scopes: "string[]",
  acrValues: "string[]",
  maxAge: "number",
};

/** Makes both functions. */
export function createProtection(options: ProtectionOptions): Protection {
  const { issuer, resources, implied, findRetryAfter, toContext, now, limiter } = options;
  const identifiers = new Map(
    [...resources.keys()].map((resource) => [resource, options.identify(resource)]),
  );

  function identify(
    request: Request,
    resource: string,
    context: RequestContext,
  ): ReturnType<IdentifyCaller> {
    const identifyCaller = identifiers.get(resource);
    if (!identifyCaller) {
      throw new TypeError(
        `Cannot authenticate: resource "${resource}" is not configured; add it to "oauth.resources"`,
      );
    }
    return identifyCaller(request, context);
  }

  return {
    async authenticate(request, needs = {}, given) {
      checkNames("authenticate", needs, AUTHENTICATE_NAMES);
      const { resource = issuer } = needs;
      const caller = await identify(request, resource, toContext(request, given));
      return caller === "none" || caller instanceof TokenRefusal ? undefined : caller;
    },
    async protect(request, needs = {}, given) {
      // A misspelt `scopes` would require no scope.
      checkNames("protect", needs, NAMES);
      const { resource = issuer, scopes = [], acrValues, maxAge } = needs;
      if (maxAge !== undefined) checkWhole("protect.maxAge", maxAge, 0);
      const context = toContext(request, given);
      let caller: Awaited<ReturnType<IdentifyCaller>>;
      try {
        caller = await identify(request, resource, context);
        if (caller !== "none" && !(caller instanceof TokenRefusal)) {
          await limiter?.limitCaller(context, caller);
        }
      } catch (error) {
        const isLimited = error instanceof RateLimitError;
        const retryAfter = isLimited ? error.retryAfter : findRetryAfter(error);
        if (retryAfter === undefined) throw error;
        const fields: Fields = [["retry-after", String(retryAfter)]];
        // RFC 6749 has no code for a limit, as in the answers of the token endpoint.
        return isLimited
          ? refuse(429, "temporarily_unavailable", error.message, fields)
          : refuse(503, "temporarily_unavailable", STORE_UNAVAILABLE, fields);
      }
      const scope = scopes.length > 0 ? scopes.join(" ") : undefined;
      const members = { scope, resource_metadata: resources.get(resource) };
      if (caller === "none") {
        // RFC 6750 §3.1: no error code for a request without credentials.
        return refuse(401, undefined, SEND_TOKEN, [["www-authenticate", bearerChallenge(members)]]);
      }
      if (caller instanceof TokenRefusal) {
        return refuse(401, caller.error, caller.description, caller.challenge(members));
      }
      // Before the scopes, so that one new authorization request can ask for both.
      if (!isLoginSufficient(caller, acrValues, maxAge, now())) {
        const error = "insufficient_user_authentication";
        const error_description = "The user must sign in again, or in another way";
        const required = { acr_values: acrValues?.join(" "), max_age: maxAge?.toString() };
        const challenge = bearerChallenge({ error, error_description, ...required, ...members });
        return refuse(401, error, error_description, [["www-authenticate", challenge]]);
      }
      const missing = scopes.filter((each) => !hasScope(caller, each, implied));
      if (missing.length === 0) return caller;
      const error = "insufficient_scope";
      const error_description = `The access token lacks the scope ${missing.join(" ")}`;
      const challenge = bearerChallenge({ error, error_description, ...members });
      return refuse(403, error, error_description, [["www-authenticate", challenge]]);
    },
  };
}

/** RFC 9470 §3. A caller without a user, or whose token does not say how they signed in, is not sufficient. */
function isLoginSufficient(
  { acr, authTime }: Principal,
  acrValues: readonly string[] | undefined,
  maxAge: number | undefined,
  now: number,
): boolean {
  if (acrValues && (acr === undefined || !acrValues.includes(acr))) return false;
  return maxAge === undefined || authTime !== undefined && authTime + maxAge >= Math.floor(now / 1000);
}

function refuse(
  status: 401 | 403 | 429 | 503,
  error: string | undefined,
  description: string,
  fields: Fields,
): Response {
  return respondJson(status, { error, error_description: description }, [...FIELDS, ...fields]);
}
