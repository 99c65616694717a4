/**
 * A `fetch` that remembers what went through it and can cut it: what stands between a client and the network. Nothing but
 * tests imports this.
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
  /** Whether the response is a stream. */
  readonly streams: boolean;
  /** Breaks the connection off. */
  cut(): void;
}

export class Wire {
  readonly exchanges: Exchange[] = [];
  /** Resolves when the stream of the session is open. */
  readonly listening: Promise<void>;
  #heardGet!: () => void;

  constructor() {
    this.listening = new Promise((resolve) => this.#heardGet = resolve);
  }

  readonly fetch = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const breaker = new AbortController();
    const signal = init.signal ? AbortSignal.any([init.signal, breaker.signal]) : breaker.signal;
    const response = await fetch(url, { ...init, signal });
    const { method = "GET", body } = init;
    this.exchanges.push({
      method,
      headers: new Headers(init.headers),
      message: typeof body === "string" ? JSON.parse(body) : undefined,
      status: response.status,
      streams: response.headers.get("content-type")?.startsWith("text/event-stream") ?? false,
      cut: () => breaker.abort(new Error("the connection was cut")),
    });
    if (method === "GET") this.#heardGet();
    return response;
  };

  /** The last exchange in which this tool was called. */
  callOf(tool: string): Exchange | undefined {
    return this.exchanges.findLast(({ message }) => message?.params?.name === tool);
  }
}
