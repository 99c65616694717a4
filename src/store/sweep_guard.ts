/**
 * Detects jumps of the system clock by comparison with a monotonic clock, and stops sweeping after one.
 *
 * @module
 */

/** The clocks of a driver. */
export interface Clocks {
  /** Milliseconds since the epoch. @default `Date.now` */
  readonly now?: (() => number) | undefined;
  /** Milliseconds since any fixed moment, by a clock that is never set.
   * @default `now` if that is given, so that a clock that a test advances does not count as a jump; else `performance.now()`
   */
  readonly monotonic?: (() => number) | undefined;
}

/** Both clocks, with the defaults. */
export function completeClocks(
  { now, monotonic }: Clocks,
): Required<{ [Name in keyof Clocks]: () => number }> {
  return { now: now ?? Date.now, monotonic: monotonic ?? now ?? (() => performance.now()) };
}

/** A larger difference between the clocks means that the system clock was set, or that the machine slept. */
const MAX_DRIFT_MS = 5000;
/** How long nothing is removed after a jump, so that a wrong clock can be corrected. */
export const WAIT_AFTER_JUMP_MS = 3600_000;

/** How many expired records one sweep statement removes, so that no write waits long behind it. */
export const SWEEP_BATCH_RECORDS = 1000;

/**
 * Decides whether expired records may be removed. For an hour after a jump of the clock they are kept: they count as
 * expired, and are live again if the clock is corrected.
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

  /** Call before each sweep. */
  maySweep(): boolean {
    const seen = { now: this.#now(), monotonic: this.#monotonic() };
    const drift = seen.now - this.#seen.now - (seen.monotonic - this.#seen.monotonic);
    this.#seen = seen;
    if (Math.abs(drift) > MAX_DRIFT_MS) this.#jumped = seen.monotonic;
    return seen.monotonic - this.#jumped >= WAIT_AFTER_JUMP_MS;
  }
}
