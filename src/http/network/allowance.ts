/**
 * How much callers may take of something that the server gives to strangers, such as bytes of storage: a limit for each
 * network and one for all together, kept in memory of this instance, without a store call.
 *
 * @module
 */

export interface AllowanceOptions {
  /** What one network may take within the window. */
  readonly perNetwork: number;
  /** What all networks may take together. */
  readonly overall: number;
  /** What all callers whose network is unknown may take together. @default overall */
  readonly unknown?: number;
  /** Milliseconds after which what was taken is free again: the lifetime of the records that it pays for. */
  readonly windowMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Never more than `overall` + `unknown` is out at any time: what was taken counts whole until a window has passed, and up
 * to a sixteenth of a window longer. Forgotten at a restart; each instance has its own.
 */
export interface Allowance {
  /**
   * Takes `amount`, for a caller in `network` (`networkOf`; `undefined` where it is unknown).
   * @returns 0 when it was taken, else nothing was and these are the seconds after which to try again (`Retry-After`)
   */
  take(network: string | undefined, amount: number): number;
  /** Gives back what was taken and not used, or is free before its time. */
  giveBack(network: string | undefined, amount: number): void;
}

const SLOTS = 16;
/** More networks than this are not told apart: the ones that came first share the overall limit alone. */
const MAX_NETWORKS = 20_000;

export function createAllowance(options: AllowanceOptions): Allowance {
  const { perNetwork, overall, unknown = overall, windowMs, now } = options;
  const slot = () => Math.floor(now() / (windowMs / SLOTS));
  const known = new SlidingSum();
  const nameless = new SlidingSum();
  const networks = new Map<string, SlidingSum>();

  const retryAfter = (sum: SlidingSum, needed: number, at: number): number => {
    const free = sum.slotWithRoom(needed, at);
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
      // The one that took last is last: the first is the one to forget.
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

/** A sum over the last `SLOTS` slots of time and the one that is under way. */
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

  /** From the newest slots first, and never below nothing. @returns what was subtracted */
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

  /** The slot at whose beginning `needed` has become free. */
  slotWithRoom(needed: number, now: number): number {
    let free = 0;
    for (const { at, amount } of this.#slots) {
      free += amount;
      if (free >= needed) return at + SLOTS + 1;
    }
    return now + SLOTS + 1;
  }
}
