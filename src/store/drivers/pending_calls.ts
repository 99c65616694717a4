/**
 * Counts the calls of a driver that have not ended, so that `close()` waits for them before it closes the connections.
 *
 * @module
 */
import { StoreClosedError } from "../store.ts";

/** `close()` waits no longer than this: on workerd, a call in a request that was cancelled never ends. */
const MAX_WAIT_MS = 30_000;

export class PendingCalls {
  #count = 0;
  #closed = false;
  #settled: (() => void) | undefined;

  /** Counts a new call. @throws {StoreClosedError} after `close()` */
  begin(): void {
    if (this.#closed) throw new StoreClosedError();
    this.#count++;
  }

  /** Counts the end of a call, also of one that failed. */
  end(): void {
    if (--this.#count === 0) this.#settled?.();
  }

  /** Refuses new calls. Resolves when the pending ones have ended, each at its driver's timeout at the latest. */
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
