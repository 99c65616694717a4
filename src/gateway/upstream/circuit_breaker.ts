/**
 * Decides when a server that failed may be tried again: at once, after a growing pause, or, after several failures in a row,
 * by a single trial after each pause (circuit breaker).
 *
 * @module
 */

export interface CircuitBreakerOptions {
  /** In milliseconds, of a clock that is never corrected. @default performance.now */
  readonly now?: () => number;
  /** A number from 0 to 1. @default Math.random */
  readonly random?: () => number;
}

/** Failures in a row after which calls fail at once. */
export const MAX_FAILURES = 5;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 60_000;
/** A connection that lasted this long makes earlier failures irrelevant. */
const STABLE_MS = 60_000;

export class CircuitBreaker {
  readonly #now: () => number;
  readonly #random: () => number;
  #failures = 0;
  #retryAt = 0;

  constructor({ now = () => performance.now(), random = Math.random }: CircuitBreakerOptions = {}) {
    this.#now = now;
    this.#random = random;
  }

  get failures(): number {
    return this.#failures;
  }

  get isOpen(): boolean {
    return this.#failures >= MAX_FAILURES;
  }

  /** Milliseconds until the next attempt may begin. */
  get pause(): number {
    return this.#failures === 0 ? 0 : Math.max(0, this.#retryAt - this.#now());
  }

  /**
   * Whether a call may run now. While the breaker is open, one call in each pause may: its outcome decides.
   */
  tryEnter(): boolean {
    if (this.#failures < MAX_FAILURES) return true;
    if (this.#now() < this.#retryAt) return false;
    this.#retryAt = this.#now() + this.#nextPause();
    return true;
  }

  succeed(): void {
    this.#failures = 0;
  }

  /**
   * Counts a failure. Several calls that fail together count as one.
   * @param lasted milliseconds for which the connection worked before
   */
  fail(lasted = 0): void {
    if (this.pause > 0) return;
    if (lasted >= STABLE_MS) this.#failures = 0;
    this.#failures++;
    this.#retryAt = this.#now() + this.#nextPause();
  }

  /** Between half and all of a time that doubles with each failure, so that many do not come back at once. */
  #nextPause(): number {
    const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, this.#failures - 1));
    return longest * (0.5 + this.#random() / 2);
  }
}
