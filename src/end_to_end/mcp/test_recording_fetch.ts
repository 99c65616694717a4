/**
 * A `fetch` that records the requests of a client, and can cut their connections. Only tests import this.
 *
 * @module
 */

export interface Exchange {
  readonly method: string;
  readonly headers: Headers;
  /** The JSON-RPC message that was posted. */
  // deno-lint-ignore no-explicit-any
  readonly message: any;
  readonly status: number;
  /** Resolves when the response has ended or failed. */
  readonly ended: Promise<void>;
  /** Cuts the connection. */
  cut(): void;
}

export class RecordingFetch {
  readonly exchanges: Exchange[] = [];
  /** Resolves when the stream of the session is open. */
  readonly listening: Promise<void>;
  #waiting: ((exchange: Exchange) => void)[] = [];

  constructor() {
    this.listening = this.next(({ method }) => method === "GET").then(() => {});
  }

  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const breaker = new AbortController();
    // Not AbortSignal.any(): Deno can collect its signal before it aborts.
    const { signal } = init;
    if (signal?.aborted) breaker.abort(signal.reason);
    signal?.addEventListener("abort", () => breaker.abort(signal.reason), { once: true });
    const response = await fetch(url, { ...init, signal: breaker.signal });
    const { method = "GET", body } = init;
    const ended = Promise.withResolvers<void>();
    const exchange: Exchange = {
      method,
      headers: new Headers(init.headers),
      message: typeof body === "string" ? JSON.parse(body) : undefined,
      status: response.status,
      ended: ended.promise,
      cut: () => breaker.abort(new Error("the connection was cut")),
    };
    this.exchanges.push(exchange);
    for (const notify of [...this.#waiting]) notify(exchange);
    if (!response.body) {
      ended.resolve();
      return response;
    }
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    response.body.pipeTo(writable, { signal: breaker.signal }).catch(() => {}).finally(() => ended.resolve());
    const { status, statusText, headers } = response;
    return new Response(readable, { status, statusText, headers });
  };

  /** The next exchange that matches, when its response begins. */
  next(matches: (exchange: Exchange) => boolean): Promise<Exchange> {
    return new Promise((resolve) => {
      const notify = (exchange: Exchange): void => {
        if (!matches(exchange)) return;
        this.#waiting = this.#waiting.filter((each) => each !== notify);
        resolve(exchange);
      };
      this.#waiting.push(notify);
    });
  }

  /** The last exchange in which this tool was called. */
  callOf(tool: string): Exchange | undefined {
    return this.exchanges.findLast(({ message }) => message?.params?.name === tool);
  }
}
