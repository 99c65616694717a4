/**
 * The caller as a program decides it that uses a service without the authorization server.
 *
 * @module
 */
import { TokenRefusal } from "./bearer.ts";
import type { IdentifyCaller, Principal } from "./principal.ts";
import type { RequestContext, Service } from "./service.ts";

/** The caller that the credentials of a request identify; `undefined` without credentials, or when they are invalid. */
export type Authenticate = (
  request: Request,
  context: RequestContext,
) => Promise<Principal | undefined> | Principal | undefined;

/** What identifies callers and says what is wrong with their tokens, such as `resourceServer` of `trivet/protect`. */
export interface CallerSource {
  readonly identify: IdentifyCaller;
  /** The address of the protected resource metadata that challenges name (RFC 9728). */
  readonly resourceMetadata?: string;
  /** Serves that metadata. */
  readonly service?: Service | undefined;
}

const INVALID = new TokenRefusal(
  "invalid_token",
  "The access token or API key is unknown, expired or revoked",
);

/** A request that identifies no caller: without credentials, or with invalid ones. */
export function refuseCredentials({ headers }: Request): "none" | TokenRefusal {
  return headers.has("authorization") || headers.has("x-api-key") ? INVALID : "none";
}

/** The source, unless the program gave a function. */
export function findCallerSource(
  authenticate: Authenticate | CallerSource | undefined,
): CallerSource | undefined {
  return typeof authenticate === "function" ? undefined : authenticate;
}

/** The function as services call it. */
export function toIdentifyCaller(authenticate: Authenticate | CallerSource): IdentifyCaller {
  if (typeof authenticate !== "function") return authenticate.identify;
  return async (request, context = {}) => await authenticate(request, context) ?? refuseCredentials(request);
}
