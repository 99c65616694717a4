/**
 * The time that a program may take with its calls, without the time in which the user answers.
 *
 * @module
 */

export class RunClock {
  readonly #onEnd: () => void;
  #left: number;
  #since = 0;
  #asking = 0;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, onEnd: () => void) {
    this.#left = ms;
    this.#onEnd = onEnd;
    this.#start();
  }

  /** Stops the clock while the request runs. */
  async pause<Answer>(request: () => Promise<Answer>): Promise<Answer> {
    if (this.#asking++ === 0) this.#halt();
    try {
      return await request();
    } finally {
      if (--this.#asking === 0) this.#start();
    }
  }

  /** For good, also when the user has not answered yet. */
  stop(): void {
    this.#isOver = true;
    this.#halt();
  }

  #halt(): void {
    clearTimeout(this.#timer);
    this.#left -= performance.now() - this.#since;
  }

  #start(): void {
    if (this.#isOver) return;
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onEnd, Math.max(this.#left, 0));
  }
}
