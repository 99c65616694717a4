/**
 * Limits of requests of pages, which know their user only once they read the session (`rate_limits/`).
 *
 * @module
 */
import { pathOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";

/** Counts requests for the users of their sessions. */
export interface UserLimit {
  /** Has the user of this request counted, once the session is read. */
  watch(request: Request, context: RequestContext): void;
  /** @throws {RateLimitError} when the user is over a limit */
  limitUser(request: Request, user: string): Promise<void> | undefined;
}

export function createUserLimit(): UserLimit {
  const contexts = new WeakMap<Request, RequestContext>();
  return {
    watch(request, context) {
      // Signing out is never refused.
      if (context.limitCaller && !pathOf(request.url).endsWith("/logout")) contexts.set(request, context);
    },
    limitUser: (request, subject) => contexts.get(request)?.limitCaller?.({ subject }),
  };
}
