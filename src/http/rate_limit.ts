/**
 * What services know of limits of requests: whom they count, and the error for a request over a limit. The limits themselves
 * are in `rate_limits/`, which is loaded only where the option `rateLimits` is set.
 *
 * @module
 */

/** The caller of a request, for limits of clients and users. A `Principal` is one. */
export interface LimitedCaller {
  /** The user. */
  readonly subject?: string;
  readonly client?: string;
  /** Where the token is of another server: `subject` and `client` are unique within it. */
  readonly issuer?: string;
  /** Whether the client only named itself: then it is counted for each network, since strangers can name it. */
  readonly isUnproven?: boolean;
}

/** A request over a limit: a 429 with `Retry-After` (RFC 6585 section 4), in the form of the service. */
export class RateLimitError extends Error {
  override readonly name = "RateLimitError";
  /** Seconds. */
  readonly retryAfter: number;

  /** @param limit such as `client` or `mcp.user` */
  constructor(limit: string, retryAfter: number) {
    super(`Rate limit exceeded: ${limit}. Try again in ${retryAfter} s`);
    this.retryAfter = retryAfter;
  }
}
