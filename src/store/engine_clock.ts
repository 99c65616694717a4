/**
 * The engine's clock, as an instance knows it: instances whose own clocks are minutes apart agree on what has expired,
 * because they all go by the clock of the one engine that they share.
 *
 * @module
 */

/** Measured again after so many milliseconds, since clocks drift and are set. */
const MEASURE_EVERY = 60_000;

/** A local clock, corrected by what the engine said. */
export class EngineClock {
  #local: () => number;
  #offset = 0;
  #measured = -Infinity;

  /** @param local milliseconds since the epoch, by this machine */
  constructor(local: () => number) {
    this.#local = local;
  }

  /** Milliseconds since the epoch, by the engine's clock as far as it is known. */
  now(): number {
    return this.#local() + this.#offset;
  }

  /** Whether it is time to ask the engine again. */
  isDue(): boolean {
    return performance.now() - this.#measured > MEASURE_EVERY;
  }

  /**
   * Asks the engine what time it is. What was said is about the middle of the way there and back (Cristian's algorithm);
   * a difference that the way itself explains is none.
   */
  async measure(ask: () => Promise<number>): Promise<void> {
    const [before, started] = [this.#local(), performance.now()];
    const engine = await ask();
    const way = performance.now() - started;
    const difference = engine - (before + way / 2);
    this.#offset = Math.abs(difference) <= way / 2 + 2 ? 0 : Math.round(difference);
    this.#measured = performance.now();
  }
}
