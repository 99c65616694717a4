/**
 * The response to a POST: one JSON text, or an event stream as soon as a notification or a request must be sent before it
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server).
 * The streams of a session are logged, so that a client can resume them.
 *
 * @module
 */
import { EventStream } from "../../http/event_stream.ts";
import type { Fields } from "../../http/response.ts";
import { timerDelay } from "../../http/timer.ts";
import { writeNotification } from "../../jsonrpc/message.ts";
import type { Call, Outlet } from "../call.ts";
import { type EventLogOptions, LogWriter } from "../session/event_log.ts";
import { sendServerRequest, type ServerRequestOptions } from "../input/server_request.ts";
import { RECORD_BYTES } from "../session/storage_limits.ts";
import type { OpenStreams } from "./stream_limits.ts";

export interface OutletOptions {
  readonly log: EventLogOptions;
  readonly serverRequests: ServerRequestOptions;
  readonly openStreams: OpenStreams;
  /** Milliseconds between keep-alive comments. */
  readonly keepAlive: number | undefined;
}

/** A call that has sent nothing for so long gets a stream, whose comments keep the connection open. */
const SILENCE_MS = 15_000;

/** Notifications that wait for a slow reader; more are dropped. */
const MAX_WAITING_NOTIFICATIONS = 1000;

export class HttpOutlet implements Outlet {
  readonly response: Promise<Response>;
  readonly #options: OutletOptions;
  readonly #call: Call;
  readonly #fields: Fields;
  #resolve!: (response: Response) => void;
  #stream: EventStream | undefined;
  #log: LogWriter | undefined;
  #isOver = false;
  /** The client has an event id, so that it can resume. */
  #sentEventId = false;
  /** Sent once the log has started; `undefined` from then on. */
  #delayed: (() => void)[] | undefined;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout>;
  #release = (): void => {};
  /** Why no stream could be opened. */
  #refusal: unknown;
  readonly sendRequest: Outlet["sendRequest"];

  /** @param fields of the response, beside its media type */
  constructor(options: OutletOptions, call: Call, fields: Fields) {
    this.#options = options;
    this.#call = call;
    this.#fields = fields;
    this.response = new Promise((resolve) => this.#resolve = resolve);
    const quiet = timerDelay(options.keepAlive ?? SILENCE_MS);
    this.#timer = setTimeout(() => this.#open()?.comment(), quiet);
    const { session } = call;
    if (session) {
      this.sendRequest = (method, params, signal) => {
        if (!this.#open() && this.#refusal) return Promise.reject(this.#refusal);
        return sendServerRequest(
          options.serverRequests,
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
    if (!stream || this.#waiting >= MAX_WAITING_NOTIFICATIONS) return;
    this.#send(writeNotification(method, params));
    this.#waiting++;
    await Promise.all([stream.waitUntilWritable(), this.#log?.waitUntilWritable()]);
    this.#waiting--;
  }

  async disconnect(retry: number): Promise<void> {
    const stream = this.#open();
    // Without an event id the client could not resume.
    if (!stream || !this.#log || this.#log.isFull || !this.#sentEventId) return;
    // A client that resumes finds everything that was sent until now.
    await this.#log.written();
    this.#whenLogged(() => {
      stream.retry(retry);
      this.#close(stream);
    });
  }

  /** Sends the response, as the last event of the stream (`write`) or, without one, as JSON (`make`). */
  finish(write: () => string, make: () => Response): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    const stream = this.#stream;
    if (!stream) return this.#resolve(make());
    const json = write();
    const id = this.#log?.end(json);
    this.#whenLogged(() => {
      stream.send(json, { id });
      this.#close(stream);
    });
  }

  /** Ends without a response: the call was cancelled. */
  abandon(): void {
    if (this.#isOver) return;
    const stream = this.#open();
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#log?.end();
    this.#whenLogged(() => stream && this.#close(stream));
  }

  #open(): EventStream | undefined {
    if (this.#isOver) return undefined;
    if (this.#stream) return this.#stream;
    const { session, revision, id = null } = this.#call;
    try {
      this.#release = this.#options.openStreams.open(this.#call, session);
    } catch (error) {
      // The response is one JSON text then, and notifications are dropped.
      this.#refusal = error;
      return undefined;
    }
    clearTimeout(this.#timer);
    const stream = new EventStream({
      keepAlive: this.#options.keepAlive,
      onDisconnect: () => {
        this.#release();
        // Up to 2025-11-25 a client that can resume has not cancelled; nor has the client of a task.
        const cannotResume = !this.#log || this.#log.isFull;
        if (cannotResume && this.#call.outlet === this) this.#call.cancel("The client disconnected");
      },
    });
    this.#stream = stream;
    const { log } = this.#options;
    if (session && id !== null && log.storage.tryTake(this.#call, RECORD_BYTES, log.lifetime)) {
      this.#log = new LogWriter(log, session.id, JSON.stringify(id), this.#call);
      const delayed: (() => void)[] = this.#delayed = [];
      this.#log.started.then(() => {
        this.#delayed = undefined;
        for (const send of delayed) send();
      });
      // Older clients would take an event without data for an invalid message.
      if (revision >= "2025-11-25") {
        const { firstId } = this.#log;
        this.#whenLogged(() => stream.send("", { id: firstId }));
        this.#sentEventId = true;
      }
    }
    this.#resolve(stream.response(this.#fields));
    // Starts to watch for cancellation.
    void this.#call.signal;
    return stream;
  }

  #send(json: string): void {
    if (this.#isOver || this.#call.isCancelled) return;
    const id = this.#log?.append(json);
    this.#sentEventId ||= id !== undefined;
    this.#whenLogged(() => this.#stream?.send(json, { id }));
  }

  #close(stream: EventStream): void {
    this.#release();
    stream.close();
  }

  /** Sends once the log has started: before that, a client could not resume by the event id. */
  #whenLogged(send: () => void): void {
    if (this.#delayed) this.#delayed.push(send);
    else send();
  }
}
