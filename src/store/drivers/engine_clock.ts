/**
 * The engine's clock, as an instance knows it: instances whose own clocks are minutes apart agree on what has expired,
 * because they all go by the clock of the one engine that they share. Between two looks at it time goes on by the
 * machine's monotonic clock, so that one whose own clock is set goes on as before.
 *
 * @module
 */
import { type Clocks, completeClocks } from "../steady_time.ts";

/** Measured again after so many milliseconds, since clocks drift. */
const MEASURE_EVERY_MS = 60_000;
/** Measured again at once when the machine's own clock has moved so much more or less than time has passed: it was set, or slept. */
const MAX_LOCAL_DRIFT_MS = 1000;

/** What was known when the engine was asked last. */
interface Measured {
  readonly engine: number;
  readonly local: number;
  readonly monotonic: number;
}

export class EngineClock {
  readonly #local: () => number;
  readonly #monotonic: () => number;
  readonly #onDrift: () => void;
  /** Which no test moves along with a clock that it sets: the engine's own clock stays where it is. */
  readonly #real: () => number;
  #asked = -Infinity;
  #measured: Measured | undefined;

  /** @param onDrift hears that the engine should be asked at once; again and again until it was */
  constructor(clocks: Clocks, onDrift: () => void = () => {}) {
    const { now, monotonic } = completeClocks(clocks);
    this.#local = now;
    this.#monotonic = monotonic;
    this.#real = clocks.monotonic ?? (() => performance.now());
    this.#onDrift = onDrift;
  }

  /** Milliseconds since the epoch, by the engine's clock as far as it is known. */
  now(): number {
    if (!this.#measured) return this.#local();
    const { engine, local, monotonic } = this.#measured;
    const passed = this.#monotonic() - monotonic;
    if (Math.abs(this.#local() - local - passed) > MAX_LOCAL_DRIFT_MS) this.#onDrift();
    return Math.floor(engine + passed);
  }

  /** Whether it is time to ask the engine again. */
  isDue(): boolean {
    return this.#real() - this.#asked > MEASURE_EVERY_MS;
  }

  /**
   * Asks the engine what time it is. What was said is about the middle of the way there and back (Cristian's algorithm);
   * a difference that the way itself explains is none.
   */
  async measure(ask: () => Promise<number>): Promise<void> {
    const before = this.#monotonic();
    const said = await ask();
    const [local, monotonic] = [this.#local(), this.#monotonic()];
    this.#asked = this.#real();
    const way = monotonic - before;
    const engine = said + way / 2;
    const isSame = Math.abs(engine - local) <= way / 2 + 2;
    this.#measured = { engine: isSame ? local : Math.round(engine), local, monotonic };
  }
}
