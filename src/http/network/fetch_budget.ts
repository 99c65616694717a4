/**
 * How much work the URLs of strangers may cause: fetches at once, and fetches over time, counted by caller, by host and
 * in all. Kept in the memory of this instance: a stranger's request must not cost a write to the store either.
 *
 * @module
 */

/** Fetches at once: of everybody, to one host (whatever the port), for one caller. */
const MAX_AT_ONCE = 64;
const MAX_AT_ONCE_PER_HOST = 16;
const MAX_AT_ONCE_PER_CALLER = 8;
/** A slot whose request ended without a word (workerd drops the work of a caller who left) is free after this. */
const SLOT_TIMEOUT_MS = 10_000;

/** What a fetch costs that failed, in units; a good one costs 1. */
const COST_OF_FAILURE = 5;
/** Units that may be used at once, and units that come back each second. */
interface Allowance {
  readonly most: number;
  readonly perSecond: number;
}
const PER_CALLER: Allowance = { most: 50, perSecond: 1 / 3 };
const PER_HOST: Allowance = { most: 100, perSecond: 1 };
const OVERALL: Allowance = { most: 3000, perSecond: 50 };
/** Counters that are remembered; the one that was used longest ago goes first. */
const MAX_COUNTERS = 20_000;

/** A fetch that a stranger wants of us. */
export interface BudgetedFetch {
  /** Without a port: another port is no other host. */
  readonly host: string;
  /** The caller's network; `undefined` when it is not known. */
  readonly network: string | undefined;
}

export interface FetchBudget {
  /**
   * Starts a fetch: a function to call at its end, saying whether the answer was good; or the seconds to wait when the
   * budget is used up.
   */
  begin(fetch: BudgetedFetch): ((good: boolean) => void) | number;
}

interface Counter {
  units: number;
  at: number;
}

/** @param now milliseconds since the epoch */
export function createFetchBudget(now: () => number): FetchBudget {
  const running = new Set<BudgetedFetch & { readonly began: number }>();
  const counters = new Map<string, Counter>();

  /** The counter with what came back since it was last looked at. */
  function count(name: string, { most, perSecond }: Allowance): Counter {
    const counter = counters.get(name) ?? { units: most, at: now() };
    const passed = Math.max(0, now() - counter.at) / 1000;
    counter.units = Math.min(most, counter.units + passed * perSecond);
    counter.at = now();
    counters.delete(name);
    counters.set(name, counter);
    if (counters.size > MAX_COUNTERS) counters.delete(counters.keys().next().value!);
    return counter;
  }

  function hasRoom({ host, network }: BudgetedFetch): boolean {
    const late = Date.now() - SLOT_TIMEOUT_MS;
    let ofHost = 0;
    let ofCaller = 0;
    for (const each of running) {
      if (each.began < late) running.delete(each);
      else {
        if (each.host === host) ofHost++;
        if (each.network === network) ofCaller++;
      }
    }
    return running.size < MAX_AT_ONCE && ofHost < MAX_AT_ONCE_PER_HOST &&
      (network === undefined || ofCaller < MAX_AT_ONCE_PER_CALLER);
  }

  return {
    begin(fetch) {
      if (!hasRoom(fetch)) return 1;
      const { host, network } = fetch;
      const own = network === undefined ? undefined : count(`caller ${network}`, PER_CALLER);
      // Who asks for the first time in a while does not queue behind those who ask again and again.
      const isFirst = own !== undefined && own.units === PER_CALLER.most;
      const used: readonly (readonly [Counter, Allowance])[] = [
        ...(own ? [[own, PER_CALLER] as const] : []),
        [count(`${isFirst ? "first" : "host"} ${host}`, PER_HOST), PER_HOST],
        [count("all", OVERALL), OVERALL],
      ];
      const wait = Math.max(
        ...used.map(([{ units }, { perSecond }]) => Math.ceil((COST_OF_FAILURE - units) / perSecond)),
      );
      if (wait > 0) return wait;
      for (const [counter] of used) counter.units -= COST_OF_FAILURE;
      const slot = { ...fetch, began: Date.now() };
      running.add(slot);
      return (good) => {
        if (!running.delete(slot) || !good) return;
        for (const [counter, { most }] of used) {
          counter.units = Math.min(most, counter.units + COST_OF_FAILURE - 1);
        }
      };
    },
  };
}
