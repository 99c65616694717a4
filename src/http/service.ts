/**
 * What a service is to whoever mounts it: a `fetch` and the paths that it answers.
 *
 * @module
 */

/** What the runtime knows beyond the request. Everything is optional: a handler works with none of it. */
export interface RequestContext {
  /** The caller's address, as far as the runtime (or a proxy that it trusts) tells. */
  readonly ip?: string | undefined;
  /**
   * The address of the connection. Set where the operator named the trusted proxies and `ip` was worked out by them
   * (`trusted_proxy.ts`): a private `ip` is then a caller's own, and not that of a proxy that nobody named.
   */
  readonly peer?: string | undefined;
  /** Keeps the runtime alive until the promise settles, after the response has gone. */
  waitUntil?(promise: Promise<unknown>): void;
}

/** One service: stands alone, or is mounted beside others by its paths. */
export interface Service {
  /**
   * What belongs to it: first segments (`"oauth"`), whole paths (`"/.well-known/jwks.json"`), and what lies below two
   * segments (`"/.well-known/agent-skills/"`).
   */
  readonly mounts: readonly string[];
  fetch(request: Request, context?: RequestContext): Promise<Response>;
}
