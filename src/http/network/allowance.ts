/**
 * Limits how much unauthenticated callers may use of a resource, such as bytes of storage: one limit for each network and
 * one for all networks together. Counted in the memory of this instance, without store calls.
 *
 * @module
 */
import { SlidingSum, SLOTS } from "./sliding_sum.ts";

export interface AllowanceOptions {
  /** The maximum for one network within the window. */
  readonly perNetwork: number;
  /** The maximum for all networks together. */
  readonly overall: number;
  /** The maximum for all callers of unknown network together. @default overall */
  readonly unknown?: number;
  /** Milliseconds after which an amount is free again: the lifetime of the records that it stands for. */
  readonly windowMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * At any time, at most `overall` + `unknown` is in use: each amount counts in full for one window, and for up to a
 * sixteenth of a window longer. Each instance counts for itself, and a restart forgets the counts.
 */
export interface Allowance {
  /**
   * Takes `amount` for a caller in `network` (see `networkOf`; `undefined` when unknown).
   * @returns 0 when the amount was taken; otherwise nothing was taken, and the result is `Retry-After` in seconds
   */
  take(network: string | undefined, amount: number): number;
  /** Returns an amount that was not used or became free early. */
  giveBack(network: string | undefined, amount: number): void;
}

/** If there are more networks, the least recently active are no longer counted one by one, only in the overall limit. */
const MAX_NETWORKS = 20_000;

export function createAllowance(options: AllowanceOptions): Allowance {
  const { perNetwork, overall, unknown = overall, windowMs, now } = options;
  const slot = () => Math.floor(now() / (windowMs / SLOTS));
  const known = new SlidingSum();
  const nameless = new SlidingSum();
  const networks = new Map<string, SlidingSum>();

  const retryAfter = (sum: SlidingSum, needed: number, at: number): number => {
    const free = sum.slotWhenFree(needed, at);
    return Math.max(1, Math.ceil((free * (windowMs / SLOTS) - now()) / 1000));
  };

  return {
    take(network, amount) {
      const at = slot();
      if (network === undefined) {
        const over = nameless.at(at) + amount - unknown;
        if (over > 0) return retryAfter(nameless, over, at);
        nameless.add(at, amount);
        return 0;
      }
      const own = networks.get(network);
      const overOwn = (own?.at(at) ?? 0) + amount - perNetwork;
      if (overOwn > 0) return own ? retryAfter(own, overOwn, at) : Math.ceil(windowMs / 1000);
      const over = known.at(at) + amount - overall;
      if (over > 0) return retryAfter(known, over, at);
      known.add(at, amount);
      const sum = own ?? new SlidingSum();
      sum.add(at, amount);
      // A Map keeps insertion order, so the first entry is the least recently active.
      networks.delete(network);
      networks.set(network, sum);
      if (networks.size > MAX_NETWORKS) networks.delete(networks.keys().next().value!);
      return 0;
    },
    giveBack(network, amount) {
      const at = slot();
      if (network === undefined) nameless.subtract(at, amount);
      else known.subtract(at, networks.get(network)?.subtract(at, amount) ?? 0);
    },
  };
}
