/**
 * The response to a POST: one JSON text, or an event stream as soon as a notification or a request must be sent before it
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server).
 *
 * @module
 */
import type { Fields } from "../../http/response.ts";
import { timerDelay } from "../../timer.ts";
import type { Call } from "../call.ts";
import type { Connection, Outlet } from "../connection.ts";
import type { Lazy } from "../lazy.ts";
import type { CallStream, CallStreams } from "./call_stream.ts";

export interface OutletOptions {
  readonly streams: Lazy<CallStreams>;
  /** Milliseconds between keep-alive comments. */
  readonly keepAlive: number | undefined;
}

/** A call that has sent nothing for so long gets a stream, whose comments keep the connection open. */
const SILENCE_MS = 15_000;

/** The connection of one call, and what the call sends over it. */
export class HttpOutlet implements Connection, Outlet {
  call!: Call;
  readonly request: Request;
  /** Whether the call has sent a message, or its response waits: most calls answer at once. */
  isUsed = false;
  readonly #options: OutletOptions;
  readonly #fields: Fields;
  /** The response, once there is one; until then `#resolve` takes it. */
  #response: Response | undefined;
  #resolve: ((response: Response) => void) | undefined;
  #stream: CallStream | undefined;
  /** While the module of streams loads: what comes then waits, in its order. */
  #loading: Promise<CallStream> | undefined;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param fields of the response, beside its media type. The call is created with this connection, and then set. */
  constructor(options: OutletOptions, request: Request, fields: Fields) {
    this.#options = options;
    this.#fields = fields;
    this.request = request;
  }

  // Not a getter of an object: V8 keeps the closure of one, and all that it refers to, until the next full collection.
  get outlet(): this {
    this.isUsed = true;
    return this;
  }

  /** The response: at once when the call has ended, so that a call without waiting costs no promise and no timer. */
  respond(): Response | Promise<Response> {
    this.isUsed = true;
    if (this.#response) return this.#response;
    if (!this.#isOver) {
      const quiet = timerDelay(this.#options.keepAlive ?? SILENCE_MS);
      this.#timer = setTimeout(() => this.#detached((stream) => stream.comment()), quiet);
    }
    return new Promise((resolve) => this.#resolve = resolve);
  }

  get sendRequest(): Outlet["sendRequest"] {
    const { session } = this.call;
    return session && ((...request) => this.#use((stream) => stream.sendRequest(session, ...request)));
  }

  async notify(method: string, params: Record<string, unknown>): Promise<void> {
    if (!this.#isOver) await this.#use((stream) => stream.notify(method, params));
  }

  async disconnect(retry: number): Promise<void> {
    if (!this.#isOver) await this.#use((stream) => stream.disconnect(retry));
  }

  /** Sends the response, as the last event of the stream (`write`) or, without one, as JSON (`make`). */
  finish(write: () => string, make: () => Response): void {
    if (this.#loading) {
      const again = () => this.finish(write, make);
      return void this.#loading.then(again, again);
    }
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (!this.#stream?.finish(write)) this.#settle(make());
  }

  #settle(response: Response): void {
    this.#response = response;
    this.#resolve?.(response);
  }

  /** Ends without a response: the call was cancelled. */
  abandon(): void {
    if (this.#isOver) return;
    this.#detached((stream) => {
      this.#isOver = true;
      clearTimeout(this.#timer);
      stream.abandon();
    });
  }

  #use<Result>(run: (stream: CallStream) => Result): Result | Promise<Awaited<Result>> {
    if (this.#stream) return run(this.#stream);
    const { streams } = this.#options;
    if (streams.value) return run(this.#create(streams.value));
    this.#loading ??= streams.load().then((streams) => this.#create(streams)).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading.then(run) as Promise<Awaited<Result>>;
  }

  /** As {@linkcode #use}, for work that no call awaits: a module that cannot be loaded leaves the call without a stream. */
  #detached(run: (stream: CallStream) => void): void {
    Promise.resolve(this.#use(run)).catch(() => {});
  }

  #create(streams: CallStreams): CallStream {
    return this.#stream ??= streams.create(this.call, this.#fields, (response) => {
      clearTimeout(this.#timer);
      this.#settle(response);
    });
  }
}
