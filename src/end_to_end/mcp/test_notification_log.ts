/**
 * Notifications that a client received, kept until a test reads them. Only tests import this.
 *
 * @module
 */

const TIMEOUT_MS = 30_000;

interface Notification {
  readonly method: string;
  // deno-lint-ignore no-explicit-any
  readonly params: any;
}

export class NotificationLog {
  #notifications: Notification[] = [];
  #wake = (): void => {};

  add(method: string, params: unknown = {}): void {
    this.#notifications.push({ method, params });
    this.#wake();
  }

  /** Waits for the next notification of this method and removes it. Returns its parameters. One call at a time. */
  async next(
    method: string,
    isWanted: (params: Notification["params"]) => boolean = () => true,
  ): Promise<Notification["params"]> {
    const until = Date.now() + TIMEOUT_MS;
    for (;;) {
      const at = this.#notifications.findIndex((each) => each.method === method && isWanted(each.params));
      if (at >= 0) return this.#notifications.splice(at, 1)[0]!.params;
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`timeout: no ${method} among ${JSON.stringify(this.#notifications)}`)),
          Math.max(0, until - Date.now()),
        );
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Removes the notifications of this method so far, without waiting. Returns their parameters. */
  take(method: string): Notification["params"][] {
    const taken = this.#notifications.filter((each) => each.method === method);
    this.#notifications = this.#notifications.filter((each) => each.method !== method);
    return taken.map(({ params }) => params);
  }
}

/** Rejects when the work takes too long, so that the test fails instead of waiting forever. */
export function withTimeout<Value>(work: Promise<Value>, what: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timeout: no ${what} within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
