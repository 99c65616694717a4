/**
 * Limits how many calls of one upstream run at a time, and how many wait for that.
 *
 * @module
 */

/** Why a call was not let in. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}

interface Waiting {
  readonly enter: () => void;
}

export class CallLimiter {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #timeout: number;
  #running = 0;
  readonly #waiting = new Set<Waiting>();

  /** @param timeout milliseconds that a call may wait */
  constructor(maxRunning: number, maxWaiting: number, timeout: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
    this.#timeout = timeout;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Lets a call in, at once (`undefined`) or when another has left. Each call that was let in must {@linkcode leave}.
   * @throws {BusyError} when too many wait, or this one waited too long
   * @throws the reason of the signal
   */
  enter(signal: () => AbortSignal): Promise<void> | undefined {
    if (this.#running < this.#maxRunning) {
      this.#running++;
      return undefined;
    }
    return this.#wait(signal());
  }

  /** Lets a call in that had left for some time, also beyond the limit. */
  enterAgain(): void {
    this.#running++;
  }

  leave(): void {
    const [next] = this.#waiting;
    // The place passes on to the call that waits longest.
    if (next && this.#running <= this.#maxRunning) next.enter();
    else this.#running--;
  }

  async #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) {
      throw new BusyError(`${this.#running} calls run and ${this.#waiting.size} wait`);
    }
    signal.throwIfAborted();
    let waiting: Waiting | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onAbort = (): void => {};
    try {
      await new Promise<void>((resolve, reject) => {
        waiting = {
          enter: () => {
            this.#waiting.delete(waiting!);
            resolve();
          },
        };
        this.#waiting.add(waiting);
        onAbort = () => reject(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
        timer = setTimeout(
          () => reject(new BusyError(`no call ended within ${this.#timeout / 1000} s`)),
          this.#timeout,
        );
      });
    } finally {
      this.#waiting.delete(waiting!);
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }
}
