/**
 * The way back to a client that waits for the response to its POST: one JSON text, or, as soon as something must be said
 * before the answer, a stream (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server).
 * The streams of a session are kept, so that a client that lost one can have the rest.
 *
 * @module
 */
import { EventStream } from "../../http/event_stream.ts";
import type { Fields } from "../../http/response.ts";
import { timerDelay } from "../../http/timer.ts";
import type { Call, Outlet } from "../call.ts";
import { type EventLogOptions, LogWriter } from "../session/event_log.ts";
import { sendServerRequest, type ServerRequestOptions } from "../input/server_request.ts";
import { RECORD_BYTES } from "../session/storage_limits.ts";
import type { OpenStreams } from "./stream_limits.ts";

export interface OutletOptions {
  readonly log: EventLogOptions;
  readonly questions: ServerRequestOptions;
  readonly openStreams: OpenStreams;
  /** Milliseconds between comments on a quiet stream. */
  readonly keepAlive: number | undefined;
}

/** Milliseconds after which a call that said nothing gets a stream, for its comments keep the connection. */
const SILENCE = 15_000;

/** Notifications that may wait for a reader who does not read; more are dropped. */
const PATIENCE = 1000;

export class HttpOutlet implements Outlet {
  readonly response: Promise<Response>;
  readonly #options: OutletOptions;
  readonly #call: Call;
  readonly #fields: Fields;
  #resolve!: (response: Response) => void;
  #stream: EventStream | undefined;
  #log: LogWriter | undefined;
  #isOver = false;
  /** The client holds an event id. */
  #gaveId = false;
  /** What waits for the log. */
  #unsaid: (() => void)[] | undefined;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout>;
  #release = (): void => {};
  /** Why there is no stream. */
  #refusal: unknown;
  readonly ask: Outlet["ask"];

  /** @param fields what the response says beside its media type */
  constructor(options: OutletOptions, call: Call, fields: Fields) {
    this.#options = options;
    this.#call = call;
    this.#fields = fields;
    this.response = new Promise((resolve) => this.#resolve = resolve);
    const quiet = timerDelay(options.keepAlive ?? SILENCE);
    this.#timer = setTimeout(() => this.#open()?.comment(), quiet);
    const { session } = call;
    if (session) {
      this.ask = (method, params, signal) => {
        if (!this.#open() && this.#refusal) return Promise.reject(this.#refusal);
        return sendServerRequest(
          options.questions,
          session,
          method,
          params,
          (json) => this.#send(json),
          signal,
        );
      };
    }
  }

  async notify(method: string, params: Record<string, unknown>): Promise<void> {
    const stream = this.#open();
    if (!stream || this.#waiting >= PATIENCE) return;
    this.#send(JSON.stringify({ jsonrpc: "2.0", method, params }));
    this.#waiting++;
    await Promise.all([stream.waitUntilWritable(), this.#log?.room()]);
    this.#waiting--;
  }

  async disconnect(retry: number): Promise<void> {
    const stream = this.#open();
    // Without an event id the client has no way back.
    if (!stream || !this.#log || this.#log.isFull || !this.#gaveId) return;
    // Whoever comes back finds all that was said until now.
    await this.#log.written();
    this.#say(() => {
      stream.retry(retry);
      this.#close(stream);
    });
  }

  /** The answer, last of all: an event of the stream, or, when none was opened, the whole response. */
  finish(write: () => string, make: () => Response): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    const stream = this.#stream;
    if (!stream) return this.#resolve(make());
    const json = write();
    const id = this.#log?.end(json);
    this.#say(() => {
      stream.send(json, { id });
      this.#close(stream);
    });
  }

  /** Ends without an answer: the call was cancelled. */
  abandon(): void {
    if (this.#isOver) return;
    const stream = this.#open();
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#log?.end();
    this.#say(() => stream && this.#close(stream));
  }

  #open(): EventStream | undefined {
    if (this.#isOver) return undefined;
    if (this.#stream) return this.#stream;
    const { session, revision, id = null } = this.#call;
    try {
      this.#release = this.#options.openStreams.open(this.#call, session);
    } catch (error) {
      // The answer will be one JSON text; what comes before it is not told.
      this.#refusal = error;
      return undefined;
    }
    clearTimeout(this.#timer);
    const stream = new EventStream({
      keepAlive: this.#options.keepAlive,
      onDisconnect: () => {
        this.#release();
        // Up to 2025-11-25 a lost connection is no cancellation, where the client can come back; nor is it for a task.
        const isLost = !this.#log || this.#log.isFull;
        if (isLost && this.#call.outlet === this) this.#call.cancel("The client disconnected");
      },
    });
    this.#stream = stream;
    const { log } = this.#options;
    if (session && id !== null && log.storage.has(this.#call, RECORD_BYTES, log.lifetime)) {
      this.#log = new LogWriter(log, session.id, JSON.stringify(id), this.#call);
      const unsaid: (() => void)[] = this.#unsaid = [];
      this.#log.begun.then(() => {
        this.#unsaid = undefined;
        for (const say of unsaid) say();
      });
      // Older clients take an event without data for a broken message.
      if (revision >= "2025-11-25") {
        const { firstId } = this.#log;
        this.#say(() => stream.send("", { id: firstId }));
        this.#gaveId = true;
      }
    }
    this.#resolve(stream.response(this.#fields));
    // From now on the call hears of its cancellation.
    void this.#call.signal;
    return stream;
  }

  #send(json: string): void {
    if (this.#isOver || this.#call.isCancelled) return;
    const id = this.#log?.append(json);
    this.#gaveId ||= id !== undefined;
    this.#say(() => this.#stream?.send(json, { id }));
  }

  #close(stream: EventStream): void {
    this.#release();
    stream.close();
  }

  /** Says it when the first event id can be found: a client that came back before that would be told of nothing. */
  #say(say: () => void): void {
    if (this.#unsaid) this.#unsaid.push(say);
    else say();
  }
}
