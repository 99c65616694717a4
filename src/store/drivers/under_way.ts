/**
 * The calls of a driver that have begun and not ended, so that `close()` finishes them before it lets go of the engine.
 *
 * @module
 */

/** On Workers, a call of a request that was broken off never ends. */
const MAX_WAIT_MS = 30_000;

export class UnderWay {
  #count = 0;
  #closed = false;
  #settled: (() => void) | undefined;

  /** A call begins. @throws {Error} when the store is closed or closing */
  begin(): void {
    if (this.#closed) throw new Error("Cannot use the store: it is closed");
    this.#count++;
  }

  /** A call has ended, well or not. */
  end(): void {
    if (--this.#count === 0) this.#settled?.();
  }

  /** Lets no more calls begin. Resolves when those under way have ended, each by its driver's timeout at the latest. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#count === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#settled = resolve;
      timer = setTimeout(resolve, MAX_WAIT_MS);
    });
    clearTimeout(timer);
  }
}
