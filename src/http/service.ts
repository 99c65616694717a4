/**
 * The interface of a service: a `fetch` and the paths that it serves. Also the context of a request.
 *
 * @module
 */
import type { LimitedCaller, RateLimitError } from "./rate_limit.ts";

/** What the runtime knows about a request beside the `Request`. All members are optional. */
export interface RequestContext {
  /** The caller's IP address, as the runtime or a trusted proxy reports it. */
  readonly ip?: string | undefined;
  /**
   * The address of the connection. Set when `trustedProxies` is configured and `ip` was found through them
   * (`trusted_proxy.ts`): a private `ip` is then the caller's own address, not that of an unknown proxy.
   */
  readonly peer?: string | undefined;
  /**
   * Whether the runtime has the whole body in memory before the handler runs, as Bun's server does. A request that waits
   * for its turn then holds the memory of its body; on other runtimes the client waits.
   */
  readonly isBodyBuffered?: boolean | undefined;
  /**
   * Whether what a request starts ends with it, as on workerd: requests may then not share work in progress, such as one
   * watch of the store.
   */
  readonly isIsolated?: boolean | undefined;
  /** Keeps the runtime alive until the promise settles, even after the response was sent. */
  waitUntil?(promise: Promise<unknown>): void;
  /**
   * Counts the request for its caller; a service calls it once, as soon as it knows them. Set when `rateLimits` is.
   * @throws {RateLimitError} when the client or the user is over a limit
   */
  limitCaller?(caller: LimitedCaller): Promise<void>;
}

/** A service, served alone or mounted beside others. */
export interface Service {
  /**
   * The paths that it serves: first segments (`"oauth"`), whole paths (`"/.well-known/jwks.json"`), and prefixes of two
   * segments (`"/.well-known/agent-skills/"`).
   */
  readonly mounts: readonly string[];
  fetch(request: Request, context?: RequestContext): Promise<Response>;
  /** The name of its own limits in `rateLimits`. */
  readonly limitName?: "oauth" | "skills" | "mcp";
  /** The response to a request over a limit, in the form of its errors. @default plain text */
  refuseLimited?(request: Request, error: RateLimitError): Response | Promise<Response>;
}
