/**
 * Limits how much unauthenticated callers may use of a resource, such as bytes of storage: one limit for each network and
 * one for all networks together. Counted in the memory of this instance, without store calls.
 *
 * @module
 */

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

const SLOTS = 16;
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

/** A sum over the last `SLOTS` time slots and the current one. */
class SlidingSum {
  #slots: { readonly at: number; amount: number }[] = [];
  #sum = 0;

  at(now: number): number {
    while (this.#slots.length > 0 && this.#slots[0]!.at < now - SLOTS) {
      this.#sum -= this.#slots.shift()!.amount;
    }
    return this.#sum;
  }

  add(now: number, amount: number): void {
    const last = this.#slots.at(-1);
    if (last?.at === now) last.amount += amount;
    else this.#slots.push({ at: now, amount });
    this.#sum += amount;
  }

  /** Subtracts from the newest slots first, never below zero. @returns the amount subtracted */
  subtract(now: number, amount: number): number {
    this.at(now);
    let left = amount;
    for (let i = this.#slots.length - 1; i >= 0 && left > 0; i--) {
      const slot = this.#slots[i]!;
      const part = Math.min(slot.amount, left);
      slot.amount -= part;
      left -= part;
    }
    this.#sum -= amount - left;
    return amount - left;
  }

  /** The first slot at whose beginning the amount `needed` is free. */
  slotWhenFree(needed: number, now: number): number {
    let free = 0;
    for (const { at, amount } of this.#slots) {
      free += amount;
      if (free >= needed) return at + SLOTS + 1;
    }
    return now + SLOTS + 1;
  }
}
