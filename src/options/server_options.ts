/**
 * The options that every server has, whatever services it composes: store, clock, proxies, allowed hosts.
 *
 * @module
 */
import { checkMade, checkNames, invalidOption, type Names } from "./option_check.ts";
import { type Observe, observeFailures } from "../events.ts";
import { isLoopbackHost } from "../http/network/loopback.ts";
import { createCallerFinder, type TrustedProxies } from "../http/network/trusted_proxy.ts";
import { type RuntimeContext, toRequestContext, type WorkerContext } from "../http/runtime_context.ts";
import type { RequestContext } from "../http/service.ts";
import type { ObserveRequest } from "../observability/request_outcome.ts";
import type { LimitedServer, RateLimiter, RateLimits } from "../rate_limits/rate_limits.ts";
import { type FindSecrets, serverSecret } from "../server_secret.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import type { Telemetry } from "../http/telemetry.ts";

export { findRetryAfter } from "../store/store.ts";

/** Options that every server has. */
export interface ServerOptions {
  readonly store: Store;
  /**
   * The proxies in front of this server: addresses and blocks whose `X-Forwarded-For` (or `Forwarded`) is trusted. Name
   * the field as well where the proxy writes `Forwarded` only. @default none: these fields are ignored
   */
  readonly trustedProxies?: readonly string[] | TrustedProxies;
  /** Allowed values of Host beside this server's own: for `/mcp`, and for every service on loopback; `*` allows all. @default none */
  readonly allowedHosts?: readonly string[];
  /** Allowed values of Origin beside this server's own, for the same services; `*` allows all. @default none */
  readonly allowedOrigins?: readonly string[];
  /** Limits requests for each address, client and user: `rateLimits(…)` of `trivet/rate-limits`. @default no limits, at no cost */
  readonly rateLimits?: RateLimits | undefined;
  /** Called with every security-relevant act, and with failures. @default writes failures to the console, and nothing else */
  readonly onEvent?: Observe | undefined;
  /** Called with what became of each request, which then has the header field `X-Request-Id`. @default no observer, at no cost */
  readonly onRequest?: ObserveRequest | undefined;
  /** Names a request for `onRequest`. @default random for this process, with a number */
  readonly requestId?: () => string;
  /** Traces and measures requests, MCP messages and requests to others: `openTelemetry()` of `trivet/opentelemetry`. @default off, at no cost */
  readonly telemetry?: Telemetry | undefined;
  /** Milliseconds since the epoch, for tests. @default the store's clock, else Date.now */
  readonly now?: () => number;
  /** Options that weaken a rule of the standards, in one group so that they stand out. */
  readonly unsafe?: {
    /** Allows an http address that is not on loopback: tokens and passwords are then sent unencrypted. */
    readonly httpIssuer?: boolean;
  };
}

const UNSAFE_NAMES: Names<NonNullable<ServerOptions["unsafe"]>> = { httpIssuer: "boolean" };

/** What services are built from. */
export interface Server {
  readonly store: Store;
  readonly now: () => number;
  readonly observe: Observe;
  readonly onRequest: ObserveRequest | undefined;
  readonly requestId: (() => string) | undefined;
  readonly limiter: RateLimiter | undefined;
  readonly telemetry: Telemetry | undefined;
  /** Secrets that all instances share. */
  readonly secret: FindSecrets;
  /** Scheme, host and port of the address. */
  readonly origin: string;
  /** The path of the address without a slash at its end. */
  readonly base: string;
  /** The context of a request, from what the runtime gives beside it. */
  toContext(request: Request, given?: RuntimeContext, worker?: WorkerContext): RequestContext;
}

/**
 * Checks the options of every server, and completes them.
 * @param name the option that holds the address
 * @throws {TypeError} naming the option and the rule
 */
export function completeServer(name: "issuer" | "url", address: string, options: ServerOptions): Server {
  checkNames("unsafe", options.unsafe ?? {}, UNSAFE_NAMES);
  checkAllowed(options);
  const { origin, pathname } = checkAddress(name, address, options.unsafe);
  const store = checkStore(options.store);
  checkMade("telemetry", options.telemetry, "traceRequest", "openTelemetry() of trivet/opentelemetry");
  const findCaller = options.trustedProxies && createCallerFinder(options.trustedProxies);
  const now = options.now ?? (store.now ? () => store.now!() : Date.now);
  const observe = toObserver(options.onEvent ?? observeFailures);
  return {
    store,
    now,
    observe,
    limiter: createLimiter(options.rateLimits, { store, now, observe }),
    onRequest: options.onRequest,
    requestId: options.requestId,
    telemetry: options.telemetry,
    secret: serverSecret(store),
    origin,
    base: pathname.replace(/\/$/, ""),
    toContext(request, given, worker) {
      const direct = toRequestContext(request, given, worker);
      return findCaller ? findCaller(request, direct) : direct;
    },
  };
}

/** What the store cannot do is no fault of the server, also where work after a response reports it. */
function toObserver(onEvent: Observe): Observe {
  return (event) =>
    onEvent(
      event.type === "fault" && event.error instanceof StoreUnavailableError
        ? { ...event, type: "store_unavailable" }
        : event,
    );
}

/**
 * Checks that each value can be that of the header field, so that none silently allows nothing.
 * @throws {TypeError} naming the option and the rule
 */
export function checkAllowed(
  { allowedHosts, allowedOrigins }: Pick<ServerOptions, "allowedHosts" | "allowedOrigins">,
): void {
  const check = (name: string, values: readonly string[] = [], form: RegExp): void => {
    const value = values.find((each) => !form.test(each));
    if (value !== undefined) {
      throw invalidOption(name, "exact values in lower case, or *", value);
    }
  };
  check("allowedHosts", allowedHosts, /^(\*|[^\s*/?#@A-Z]+)$/);
  check("allowedOrigins", allowedOrigins, /^(\*|null|\S+:\/\/[^\s*/?#@A-Z]+)$/);
}

/** The address, checked. @throws {TypeError} naming the option and the rule that it breaks */
export function checkAddress(name: "issuer" | "url", address: string, unsafe?: ServerOptions["unsafe"]): URL {
  const url = URL.parse(address);
  const secure = url?.protocol === "https:" ||
    url?.protocol === "http:" && (isLoopbackHost(url.hostname) || unsafe?.httpIssuer === true);
  if (!secure || typeof address !== "string" || /[?#]/.test(address) || url.username || url.password) {
    const rule = "an https URL (http on loopback) without query, fragment or user";
    // Not a password, which a log would keep.
    throw invalidOption(name, rule, url?.username || url?.password ? url.host : address);
  }
  return url;
}

/** @throws {TypeError} for settings that were not passed to `rateLimits()` */
function createLimiter(limits: RateLimits | undefined, server: LimitedServer): RateLimiter | undefined {
  // Authors without types may pass false.
  if (!limits) return undefined;
  checkMade("rateLimits", limits, "createLimiter", "rateLimits() of trivet/rate-limits");
  return limits.createLimiter(server);
}

/** The store, checked. @throws {TypeError} when it is missing, or cannot keep single use and rotation */
function checkStore(store: Store): Store {
  const guarantees = (store as Partial<Store> | undefined)?.guarantees;
  if (!guarantees?.atomic || !guarantees.readYourWrites) {
    // Else a code could be redeemed twice.
    const problem = store ? "must be atomic and read its own writes" : "is required";
    throw new TypeError(
      `Invalid options: "store" ${problem}. For a first try: memoryStore() of "trivet/store/memory"`,
    );
  }
  return store;
}
