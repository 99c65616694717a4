/**
 * The error at a limit of sessions, streams or stored bytes.
 *
 * @module
 */
import { UnavailableError } from "../error.ts";

/**
 * The caller is at a limit: over HTTP a 429 with `Retry-After` (RFC 6585 section 4), or a 503 when all callers together are.
 */
export class LimitError extends UnavailableError {
  override readonly name = "LimitError";

  /** @param reason such as "Too many open streams" @param retryAfter in seconds */
  constructor(reason: string, retryAfter: number, status: 429 | 503 = 429) {
    super({ retryAfter }, `${reason}. Try again in ${retryAfter} s`, status);
  }
}
