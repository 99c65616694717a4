/**
 * The caller as a program decides it that uses a service without the authorization server.
 *
 * @module
 */
import { TokenRefusal } from "./bearer.ts";
import type { IdentifyCaller, Principal } from "./principal.ts";
import type { RequestContext } from "./service.ts";

/** The caller that the credentials of a request identify; `undefined` without credentials, or when they are invalid. */
export type Authenticate = (
  request: Request,
  context: RequestContext,
) => Promise<Principal | undefined> | Principal | undefined;

const INVALID = new TokenRefusal(
  "invalid_token",
  "The access token or API key is unknown, expired or revoked",
);

/** A request that identifies no caller: without credentials, or with invalid ones. */
export function refuseCredentials({ headers }: Request): "none" | TokenRefusal {
  return headers.has("authorization") || headers.has("x-api-key") ? INVALID : "none";
}

/** The function as services call it. */
export function toIdentifyCaller(authenticate: Authenticate): IdentifyCaller {
  return async (request, context = {}) => await authenticate(request, context) ?? refuseCredentials(request);
}
