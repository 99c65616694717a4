/**
 * Limits how many calls run at a time, of an upstream or of programs, and how many wait for that. Users take turns: the many
 * calls of one delay a call of another by no more than the time in which one of them ends.
 *
 * @module
 */

/** Why a call was not let in. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}

type Enter = () => void;

export class CallLimiter {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #timeout: number;
  #running = 0;
  #waiting = 0;
  /** By user, of whom the first is next; the calls of each in their order. */
  readonly #queues = new Map<string, Set<Enter>>();

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
    return this.#waiting;
  }

  /**
   * Lets a call in, at once (`undefined`) or when another has left. Each call that was let in must {@linkcode leave}.
   * @param call its signal ends the wait @param userOf `userKey` of the caller, for a call that must wait
   * @throws {BusyError} when too many wait, or too many of this user, or this one waited too long
   * @throws the reason of the signal
   */
  enter(call: { readonly signal: AbortSignal }, userOf: () => string): Promise<void> | undefined {
    if (this.#running < this.#maxRunning) {
      this.#running++;
      return undefined;
    }
    return this.#wait(userOf(), call.signal);
  }

  /** Lets a call in that had left for some time, also beyond the limit. */
  enterAgain(): void {
    this.#running++;
  }

  leave(): void {
    const [next] = this.#queues;
    if (!next || this.#running > this.#maxRunning) return void this.#running--;
    // The place passes on to the call of this user that waits longest.
    const [user, queue] = next;
    const [enter] = queue;
    this.#remove(user, enter!);
    if (this.#queues.delete(user)) this.#queues.set(user, queue);
    enter!();
  }

  #add(user: string, enter: Enter): void {
    const queue = this.#queues.get(user);
    if (queue) queue.add(enter);
    else this.#queues.set(user, new Set([enter]));
    this.#waiting++;
  }

  #remove(user: string, enter: Enter): void {
    const queue = this.#queues.get(user);
    if (!queue?.delete(enter)) return;
    if (queue.size === 0) this.#queues.delete(user);
    this.#waiting--;
  }

  async #wait(user: string, signal: AbortSignal): Promise<void> {
    // Anonymous callers are many users.
    const maxOfUser = user === "" ? this.#maxWaiting : Math.ceil(this.#maxWaiting / 2);
    if (this.#waiting >= this.#maxWaiting || (this.#queues.get(user)?.size ?? 0) >= maxOfUser) {
      throw new BusyError(`${this.#running} calls run and ${this.#waiting} wait`);
    }
    signal.throwIfAborted();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onAbort = (): void => {};
    try {
      await new Promise<void>((resolve, reject) => {
        this.#add(user, resolve);
        // A call that gave up must not be let in: it would never leave.
        const giveUp = (reason: unknown): void => {
          this.#remove(user, resolve);
          reject(reason);
        };
        onAbort = () => giveUp(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
        const busy = `no call ended within ${this.#timeout / 1000} s`;
        timer = setTimeout(() => giveUp(new BusyError(busy)), this.#timeout);
      });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }
}
