/**
 * The caller as a program decides it that uses a service without the authorization server.
 *
 * @module
 */
import { TokenRefusal } from "./bearer.ts";
import { checkMade } from "../options/option_check.ts";
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

/**
 * What the option `authenticate` gives; a function becomes a source.
 * @throws {TypeError} for what is neither
 */
export function toCallerSource(
  authenticate: Authenticate | CallerSource | undefined,
): CallerSource | undefined {
  if (typeof authenticate === "function") {
    return {
      identify: async (request, context = {}) =>
        await authenticate(request, context) ?? refuseCredentials(request),
    };
  }
  checkMade("authenticate", authenticate, "identify", "resourceServer() of trivet/protect");
  return authenticate;
}
