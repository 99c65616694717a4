/**
 * What a client was told, kept until somebody asks for it. Nothing but tests imports this.
 *
 * @module
 */

/** Milliseconds after which something is not waited for any more. */
const PATIENCE = 30_000;

interface Told {
  readonly method: string;
  // deno-lint-ignore no-explicit-any
  readonly params: any;
}

export class Heard {
  #told: Told[] = [];
  #wake = (): void => {};

  tell(method: string, params: unknown = {}): void {
    this.#told.push({ method, params });
    this.#wake();
  }

  /** The parameters of the next message of this method that was not taken yet; waits for it. One at a time. */
  async next(
    method: string,
    fits: (params: Told["params"]) => boolean = () => true,
  ): Promise<Told["params"]> {
    const until = Date.now() + PATIENCE;
    for (;;) {
      const at = this.#told.findIndex((each) => each.method === method && fits(each.params));
      if (at >= 0) return this.#told.splice(at, 1)[0]!.params;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`No ${method} came; there were ${JSON.stringify(this.#told)}`)),
          Math.max(0, until - Date.now()),
        );
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Takes what came so far of this method, without waiting. */
  take(method: string): Told["params"][] {
    const taken = this.#told.filter((each) => each.method === method);
    this.#told = this.#told.filter((each) => each.method !== method);
    return taken.map(({ params }) => params);
  }
}

/** Rejects when the work takes too long: a test that waits for ever says nothing. */
export function soon<Value>(work: Promise<Value>, what: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${PATIENCE} ms`)), PATIENCE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
