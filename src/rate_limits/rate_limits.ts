/**
 * `trivet/rate-limits`, for the option `rateLimits` of every server: checks the limits, and counts each request for its address before anything else, and for its
 * client and user as soon as the service knows them (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/11/).
 *
 * @module
 */
import type { Observe } from "../events.ts";
import { networkOf } from "../http/network/network.ts";
import { type LimitedCaller, RateLimitError } from "../http/rate_limit.ts";
import { NO_STORE, respondText } from "../http/response.ts";
import type { RequestContext, Service } from "../http/service.ts";
import type { Store } from "../store/store.ts";
import {
  type Limit,
  LIMIT_SCOPES,
  LIMITED_SERVICES,
  type LimitName,
  type LimitScope,
  parseLimit,
} from "./limit.ts";
import { createRefusalReports, type RefusedCaller, type ReportRefusal } from "./refusal_report.ts";
import { type CountedCaller, createSharedCount, type SharedCount } from "./shared_count.ts";

export type { LimitName };

/** Limits by name: requests and window, such as `600/1m`, with the units `s`, `m`, `h` and `d`; at most a day. */
export type RateLimitSettings = { readonly [Name in LimitName]?: string };

/** Counts the requests of one server. */
export interface RateLimiter {
  /**
   * Runs a request, unless its address is over a limit, and adds the header fields `RateLimit` and `RateLimit-Policy` to
   * the response.
   * @param answer called with a context that has `limitCaller`
   */
  run(
    request: Request,
    context: RequestContext,
    service: Service | undefined,
    answer: (context: RequestContext) => Response | Promise<Response>,
  ): Promise<Response>;
  /**
   * Counts a request beside the services, which `protect` let through, for its client and its user.
   * @throws {RateLimitError} when one of them is over a limit
   */
  limitCaller(context: RequestContext, caller: LimitedCaller): Promise<void>;
}

/** The value of the option `rateLimits`. */
export interface RateLimits {
  /** Starts to count the requests of a server. */
  createLimiter(server: LimitedServer): RateLimiter;
}

/** What limits need of their server. */
export interface LimitedServer {
  /** Counts are shared by all instances on one store. */
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
}

/**
 * Limits the requests of each address, client and user.
 *
 * ```ts
 * createTrivet({ issuer, store, rateLimits: rateLimits({ address: "600/1m", "mcp.user": "1200/1m" }) });
 * ```
 * @throws {TypeError} for an unknown name or an invalid limit
 */
export function rateLimits(settings: RateLimitSettings): RateLimits {
  const limits = Object.entries(settings).map(([name, text]) => {
    const limit = parseLimit(name, text);
    if (limit) return limit;
    throw new TypeError(
      `Invalid options: "rateLimits" must name ${LIMIT_SCOPES.join(", ")}, alone or after one of ${
        LIMITED_SERVICES.map((each) => `${each}.`).join(", ")
      }, with a limit such as 600/1m of at most a day, but has "${name}": "${text}"`,
    );
  });
  return { createLimiter: (server) => createLimiter(limits, server) };
}

/** What all requests share. */
interface Limiter {
  /** The counts of one scope for requests to one service, or to none. */
  findCounts(scope: LimitScope, service: string | undefined): readonly SharedCount<Limit>[];
  /** {@linkcode networkOf}. */
  findNetwork(context: RequestContext): string | undefined;
  readonly report: ReportRefusal;
}

const MAX_KNOWN_ADDRESSES = 10_000;

/** Most requests come from an address that was parsed before. Whether it counts depends on the options of the server only. */
function createNetworkFinder(): Limiter["findNetwork"] {
  const known = new Map<string, string | undefined>();
  return (context) => {
    const { ip } = context;
    if (ip === undefined) return undefined;
    let network = known.get(ip);
    if (network === undefined && !known.has(ip)) {
      network = networkOf(context);
      if (known.size >= MAX_KNOWN_ADDRESSES) known.clear();
      known.set(ip, network);
    }
    return network;
  };
}

function createLimiter(limits: readonly Limit[], { store, now, observe }: LimitedServer): RateLimiter {
  const onFailure = (error: unknown) => observe({ type: "fault", where: "rate limits", error });
  const counts = limits.map((limit) => createSharedCount(limit, { store, now, onFailure }));
  const lists = new Map<string, readonly SharedCount<Limit>[]>();
  for (const service of [undefined, ...LIMITED_SERVICES]) {
    for (const scope of LIMIT_SCOPES) {
      const found = counts.filter(({ limit }) =>
        limit.scope === scope && (limit.service === undefined || limit.service === service)
      );
      lists.set(`${service} ${scope}`, found);
    }
  }
  const limiter: Limiter = {
    findCounts: (scope, service) => lists.get(`${service} ${scope}`)!,
    findNetwork: createNetworkFinder(),
    report: createRefusalReports(observe),
  };

  return {
    async run(request, context, service, answer) {
      const limited = new LimitedRequest(context, service?.limitName, limiter);
      let response: Response;
      try {
        await limited.limitAddress();
        response = await answer(limited);
      } catch (error) {
        if (!(error instanceof RateLimitError)) throw error;
        response = await refuse(request, service, error);
      }
      limited.addFields(response);
      return response;
    },
    limitCaller: (context, caller) => new LimitedRequest(context, undefined, limiter).limitCaller(caller),
  };
}

async function refuse(
  request: Request,
  service: Service | undefined,
  error: RateLimitError,
): Promise<Response> {
  return await service?.refuseLimited?.(request, error) ??
    respondText(429, `${error.message}.`, [["retry-after", String(error.retryAfter)]]);
}

/** A caller of the request, and the count that it is in. */
interface Counted {
  readonly count: SharedCount<Limit>;
  readonly caller: CountedCaller;
}

/** The context of a request whose callers are counted. */
class LimitedRequest implements RequestContext {
  readonly #context: RequestContext;
  readonly #service: string | undefined;
  readonly #limiter: Limiter;
  readonly #counted: Counted[] = [];
  #isRefused = false;

  constructor(context: RequestContext, service: string | undefined, limiter: Limiter) {
    this.#context = context;
    this.#service = service;
    this.#limiter = limiter;
  }

  get ip(): string | undefined {
    return this.#context.ip;
  }

  get peer(): string | undefined {
    return this.#context.peer;
  }

  get isBodyBuffered(): boolean | undefined {
    return this.#context.isBodyBuffered;
  }

  get isIsolated(): boolean | undefined {
    return this.#context.isIsolated;
  }

  waitUntil(promise: Promise<unknown>): void {
    this.#context.waitUntil?.(promise);
  }

  /** @throws {RateLimitError} */
  limitAddress(): Promise<void> | undefined {
    const counts = this.#limiter.findCounts("address", this.#service);
    const network = counts.length > 0 ? this.#limiter.findNetwork(this.#context) : undefined;
    return network === undefined ? undefined : this.#count(find(counts, network), {});
  }

  async limitCaller({ subject, client, issuer, isUnproven }: LimitedCaller): Promise<void> {
    const callers: Counted[] = [];
    if (client !== undefined) {
      const counts = this.#limiter.findCounts("client", this.#service);
      const network = isUnproven && counts.length > 0 ? this.#limiter.findNetwork(this.#context) : undefined;
      // Where the network is unknown, strangers would use up the limit of those who proved to be the client.
      if (!isUnproven || network !== undefined) {
        callers.push(...find(counts, JSON.stringify([issuer ?? "", client, network ?? ""])));
      }
    }
    if (subject !== undefined) {
      callers.push(
        ...find(this.#limiter.findCounts("user", this.#service), JSON.stringify([issuer ?? "", subject])),
      );
    }
    if (callers.length > 0) await this.#count(callers, { client, user: subject });
  }

  /** Counts the request for all of the callers, or for none when one of them is over its limit; for each of them once. */
  async #count(all: readonly Counted[], names: Omit<RefusedCaller, "ip">): Promise<void> {
    const callers = all.filter(({ count, caller }) =>
      !this.#counted.some((each) => each.count === count && each.caller === caller)
    );
    // Where requests are isolated, one cannot wait for what another began.
    if (!this.isIsolated) {
      for (let busy; (busy = callers.find(({ caller }) => caller.reporting));) await busy.caller.reporting;
    }
    this.#counted.push(...callers);
    const full = callers.filter(({ count, caller }) => count.countRemaining(caller) === 0);
    if (full.length > 0) {
      this.#isRefused = true;
      for (const { count, caller } of full) {
        this.#limiter.report(count.limit, caller, { ...names, ip: this.ip });
      }
      const [{ count }] = full as [Counted];
      const wait = Math.max(...full.map(({ count, caller }) => count.findReset(caller)));
      throw new RateLimitError(count.limit.name, wait);
    }
    // All at once: while one report is under way, others would find room in the counts that come after it.
    await Promise.all(callers.map(({ count, caller }) => count.add(caller)));
  }

  /**
   * Adds what clients can know. Not to redirects, which a client would follow later (section 6); a 429 must not be stored
   * (RFC 6585 section 4).
   */
  addFields({ status, headers }: Response): void {
    if (this.#isRefused) headers.set(...NO_STORE);
    if (this.#counted.length === 0 || status >= 300 && status < 400) return;
    const policies: string[] = [];
    const limits: string[] = [];
    for (const { count, caller } of this.#counted) {
      const { name, requests, seconds } = count.limit;
      policies.push(`"${name}";q=${requests};w=${seconds}`);
      limits.push(`"${name}";r=${count.countRemaining(caller)};t=${count.findReset(caller)}`);
    }
    headers.set("ratelimit-policy", policies.join(", "));
    headers.set("ratelimit", limits.join(", "));
  }
}

function find(counts: readonly SharedCount<Limit>[], name: string): Counted[] {
  return counts.map((count) => ({ count, caller: count.find(name) }));
}
