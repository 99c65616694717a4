/**
 * Limits the fetches of URLs that unauthenticated callers supply: concurrent fetches and fetches over time, by caller, by
 * host and in total. Counted in the memory of this instance, because such a request must not cause a store write either.
 *
 * @module
 */

/** Concurrent fetches: in total, to one host (on any port), for one caller. */
const MAX_CONCURRENT = 64;
const MAX_CONCURRENT_PER_HOST = 16;
const MAX_CONCURRENT_PER_CALLER = 8;
/** A slot is free after this even if its fetch never ended: workerd drops the work of a client that disconnects. */
const SLOT_TIMEOUT_MS = 10_000;

/** The cost of a failed fetch, in units. A successful fetch costs 1. */
const FAILURE_UNITS = 5;
/** A token bucket: its capacity in units, and the units that return each second. */
interface Bucket {
  readonly capacity: number;
  readonly perSecond: number;
}
const PER_CALLER: Bucket = { capacity: 50, perSecond: 1 / 3 };
const PER_HOST: Bucket = { capacity: 100, perSecond: 1 };
const OVERALL: Bucket = { capacity: 3000, perSecond: 50 };
/** The least recently used counter is dropped first. */
const MAX_COUNTERS = 20_000;

/** A fetch of a URL that an unauthenticated caller supplied. */
export interface BudgetedFetch {
  /** Without the port: all ports of a host count together. */
  readonly host: string;
  /** The caller's network; `undefined` when unknown. */
  readonly network: string | undefined;
}

export interface FetchBudget {
  /**
   * Starts a fetch.
   * @returns a function to call when the fetch ends, with whether it succeeded; or, when the budget is used up, the number
   * of seconds to wait
   */
  begin(fetch: BudgetedFetch): ((succeeded: boolean) => void) | number;
}

interface Counter {
  units: number;
  at: number;
}

/** @param now milliseconds since the epoch */
export function createFetchBudget(now: () => number): FetchBudget {
  const running = new Set<BudgetedFetch & { readonly began: number }>();
  const counters = new Map<string, Counter>();

  /** The counter, with the units that returned since its last use. */
  function count(name: string, { capacity, perSecond }: Bucket): Counter {
    const counter = counters.get(name) ?? { units: capacity, at: now() };
    const passed = Math.max(0, now() - counter.at) / 1000;
    counter.units = Math.min(capacity, counter.units + passed * perSecond);
    counter.at = now();
    counters.delete(name);
    counters.set(name, counter);
    if (counters.size > MAX_COUNTERS) counters.delete(counters.keys().next().value!);
    return counter;
  }

  function hasFreeSlot({ host, network }: BudgetedFetch): boolean {
    const expired = Date.now() - SLOT_TIMEOUT_MS;
    let ofHost = 0;
    let ofCaller = 0;
    for (const each of running) {
      if (each.began < expired) running.delete(each);
      else {
        if (each.host === host) ofHost++;
        if (each.network === network) ofCaller++;
      }
    }
    return running.size < MAX_CONCURRENT && ofHost < MAX_CONCURRENT_PER_HOST &&
      (network === undefined || ofCaller < MAX_CONCURRENT_PER_CALLER);
  }

  return {
    begin(fetch) {
      if (!hasFreeSlot(fetch)) return 1;
      const { host, network } = fetch;
      const own = network === undefined ? undefined : count(`caller ${network}`, PER_CALLER);
      // The first fetch of a caller has a host bucket of its own, so that busy callers cannot block it.
      const isFirst = own !== undefined && own.units === PER_CALLER.capacity;
      const used: readonly (readonly [Counter, Bucket])[] = [
        ...(own ? [[own, PER_CALLER] as const] : []),
        [count(`${isFirst ? "first" : "host"} ${host}`, PER_HOST), PER_HOST],
        [count("all", OVERALL), OVERALL],
      ];
      const wait = Math.max(
        ...used.map(([{ units }, { perSecond }]) => Math.ceil((FAILURE_UNITS - units) / perSecond)),
      );
      if (wait > 0) return wait;
      for (const [counter] of used) counter.units -= FAILURE_UNITS;
      const slot = { ...fetch, began: Date.now() };
      running.add(slot);
      return (succeeded) => {
        if (!running.delete(slot) || !succeeded) return;
        for (const [counter, { capacity }] of used) {
          counter.units = Math.min(capacity, counter.units + FAILURE_UNITS - 1);
        }
      };
    },
  };
}
