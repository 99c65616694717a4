/**
 * Time that does not jump, beside the clock of the machine, which may be set: how drivers know a jump when they see one.
 *
 * @module
 */

/** Milliseconds since the epoch, and milliseconds since any fixed moment; the second one is never set. */
export interface Clocks {
  readonly now?: (() => number) | undefined;
  /** @default `now` where that is given, since a clock that a test moves by hand is no jump; else `performance.now()` */
  readonly monotonic?: (() => number) | undefined;
}

/** Both clocks, with their defaults. */
export function completeClocks(
  { now, monotonic }: Clocks,
): Required<{ [Name in keyof Clocks]: () => number }> {
  return { now: now ?? Date.now, monotonic: monotonic ?? now ?? (() => performance.now()) };
}

/** A clock that differs by more than this from what passed has been set, or the machine slept. */
export const MAX_DRIFT_MS = 5000;
/** Removing waits so long after a jump: a clock that was set wrongly is set right by then. */
export const WAIT_AFTER_JUMP_MS = 3600_000;

/**
 * Whether expired records may be removed. After a jump of the clock they may not for an hour: they count as expired
 * all the same, and are there again when the clock is set right.
 */
export class SweepGuard {
  readonly #now: () => number;
  readonly #monotonic: () => number;
  #seen: { readonly now: number; readonly monotonic: number };
  #jumped = -Infinity;

  constructor(clocks: Clocks) {
    const { now, monotonic } = completeClocks(clocks);
    this.#now = now;
    this.#monotonic = monotonic;
    this.#seen = { now: now(), monotonic: monotonic() };
  }

  /** Asked before each sweep. */
  maySweep(): boolean {
    const seen = { now: this.#now(), monotonic: this.#monotonic() };
    const drift = seen.now - this.#seen.now - (seen.monotonic - this.#seen.monotonic);
    this.#seen = seen;
    if (Math.abs(drift) > MAX_DRIFT_MS) this.#jumped = seen.monotonic;
    return seen.monotonic - this.#jumped >= WAIT_AFTER_JUMP_MS;
  }
}
