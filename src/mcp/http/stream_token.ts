/**
 * Checks the token of an open stream, which outlives the check of its request.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";

/** Whether the token of an open stream is still valid. Streams ask with every keep-alive comment. */
export async function isCurrent(principal: Principal | undefined, now: () => number): Promise<boolean> {
  if (principal?.expires !== undefined && principal.expires <= now()) return false;
  return await principal?.isStillValid?.() ?? true;
}
