/**
 * The clock of the engine, estimated by an instance. All instances use the clock of the engine that they share, so they
 * agree on expiry even if their own clocks differ by minutes. Between two measurements, time advances by the monotonic
 * clock of the machine, so setting the system clock has no effect.
 *
 * @module
 */
import { type Clocks, completeClocks } from "../sweep_guard.ts";

/** The interval of measurements. */
const MEASURE_INTERVAL_MS = 60_000;
/** A larger difference between the clocks of this machine causes a measurement at once: it was set, or the machine slept. */
const MAX_LOCAL_DRIFT_MS = 1000;

/** The clocks at the last measurement. */
interface Measured {
  readonly engine: number;
  readonly local: number;
  readonly monotonic: number;
}

export class EngineClock {
  readonly #local: () => number;
  readonly #monotonic: () => number;
  readonly #onDrift: () => void;
  /** A clock that tests do not move, because the clock of the engine does not move either. */
  readonly #real: () => number;
  #asked = -Infinity;
  #measured: Measured | undefined;

  /** @param onDrift called when a measurement is needed at once, repeatedly until it is done */
  constructor(clocks: Clocks, onDrift: () => void = () => {}) {
    const { now, monotonic } = completeClocks(clocks);
    this.#local = now;
    this.#monotonic = monotonic;
    this.#real = clocks.monotonic ?? (() => performance.now());
    this.#onDrift = onDrift;
  }

  /** Milliseconds since the epoch, by the clock of the engine; before the first measurement by the system clock. */
  now(): number {
    if (!this.#measured) return this.#local();
    const { engine, local, monotonic } = this.#measured;
    const passed = this.#monotonic() - monotonic;
    if (Math.abs(this.#local() - local - passed) > MAX_LOCAL_DRIFT_MS) this.#onDrift();
    return Math.floor(engine + passed);
  }

  /** Whether a measurement is due. */
  isDue(): boolean {
    return this.#real() - this.#asked > MEASURE_INTERVAL_MS;
  }

  /**
   * Measures the clock of the engine (Cristian's algorithm): its answer is taken as the time in the middle of the round trip.
   * A difference smaller than half the round trip is ignored.
   */
  async measure(ask: () => Promise<number>): Promise<void> {
    const before = this.#monotonic();
    const answer = await ask();
    const [local, monotonic] = [this.#local(), this.#monotonic()];
    this.#asked = this.#real();
    const roundTrip = monotonic - before;
    const engine = answer + roundTrip / 2;
    const isSame = Math.abs(engine - local) <= roundTrip / 2 + 2;
    this.#measured = { engine: isSame ? local : Math.round(engine), local, monotonic };
  }
}
