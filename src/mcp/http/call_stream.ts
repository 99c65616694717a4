/**
 * The event stream of a call, from its first notification or request on
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server). The streams of
 * a session are logged, so that a client can resume them. Loads with the first such message.
 *
 * @module
 */
import { EventStream } from "../../http/event_stream.ts";
import type { Fields } from "../../http/response.ts";
import { writeResponse } from "../../jsonrpc/message.ts";
import { writeNotification } from "../../jsonrpc/server_message.ts";
import type { Call } from "../call.ts";
import type { Lazy } from "../lazy.ts";
import { stoppedError } from "../session/stopped_error.ts";
import type { LogWriter } from "../session/event_log.ts";
import type { Session } from "../session/session.ts";
import type { Stateful } from "../stateful.ts";
import { OpenStreams, STREAM_LIMITS, type StreamLimits } from "./stream_limits.ts";

export interface CallStreamsOptions {
  /** Has loaded when a call has a session. */
  readonly stateful: Lazy<Stateful>;
  readonly limits: Partial<StreamLimits> | undefined;
  /** Milliseconds between keep-alive comments. */
  readonly keepAlive: number | undefined;
}

export interface CallStreams {
  readonly openStreams: OpenStreams;
  /** Ends the streams of all running calls with an error. Resolves when their clients can read it at other instances. */
  stop(): Promise<void>;
  /** @param fields of the response, beside its media type @param onOpen gets the response with the stream */
  create(call: Call, fields: Fields, onOpen: (response: Response) => void): CallStream;
}

/** The streams of the calls of one server. */
export function createCallStreams({ stateful, limits, keepAlive }: CallStreamsOptions): CallStreams {
  const openStreams = new OpenStreams({ ...STREAM_LIMITS, ...limits });
  const running = new Set<CallStream>();
  return {
    openStreams,
    stop: async () => void await Promise.all([...running].map((each) => each.stop())),
    create: (...given) => new CallStream({ stateful, openStreams, running, keepAlive }, ...given),
  };
}

interface CallStreamOptions extends Omit<CallStreamsOptions, "limits"> {
  readonly openStreams: OpenStreams;
  /** The streams of calls that are not answered yet. */
  readonly running: Set<CallStream>;
}

/** Notifications that wait for a slow reader; more are dropped. */
const MAX_WAITING_NOTIFICATIONS = 1000;

export class CallStream {
  readonly #options: CallStreamOptions;
  readonly #call: Call;
  readonly #fields: Fields;
  readonly #onOpen: (response: Response) => void;
  #stream: EventStream | undefined;
  #log: LogWriter | undefined;
  #isOver = false;
  /** The client has an event id, so that it can resume. */
  #sentEventId = false;
  /** Sent once the log has started; `undefined` from then on. */
  #delayed: (() => void)[] | undefined;
  #waiting = 0;
  #release = (): void => {};
  /** Requests to the client without a response. */
  readonly #asked = new Set<Promise<unknown>>();
  /** Why no stream could be opened. */
  #refusal: unknown;

  constructor(
    options: CallStreamOptions,
    call: Call,
    fields: Fields,
    onOpen: (response: Response) => void,
  ) {
    this.#options = options;
    this.#call = call;
    this.#fields = fields;
    this.#onOpen = onOpen;
  }

  /** Opens the stream, if it is not open: its comments keep the connection of a silent call open. */
  comment(): void {
    this.#open()?.comment();
  }

  /** Sends a request to the client of a session, and waits for its result. */
  sendRequest(session: Session, method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (!this.#open() && this.#refusal) return Promise.reject(this.#refusal);
    const { sendServerRequest } = this.#options.stateful.value!;
    const { principal } = this.#call;
    const asked = sendServerRequest(session, principal, method, params, (json) => this.#send(json), signal);
    this.#asked.add(asked);
    const settle = () => void this.#asked.delete(asked);
    asked.then(settle, settle);
    return asked;
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
      // The call may have ended, or its client disconnected, meanwhile.
      if (!stream.isOpen) return;
      stream.retry(retry);
      this.#keepSlot();
      stream.close();
    });
  }

  /** Sends the response as the last event; `false` when no stream is open. */
  finish(write: () => string): boolean {
    const stream = this.#stream;
    // It may have been stopped.
    if (this.#isOver) return stream !== undefined;
    this.#setOver();
    if (!stream) return false;
    const json = write();
    const id = this.#log?.end(json);
    this.#whenLogged(() => {
      stream.send(json, { id });
      this.#close(stream);
    });
    return true;
  }

  /** Ends with an error, since the process stops, and cancels the call. */
  async stop(): Promise<void> {
    const { id } = this.#call.request;
    this.finish(() => writeResponse({ id: id ?? null, error: stoppedError() }));
    this.#call.cancel("The server stops");
    await this.#log?.written();
  }

  /** Ends without a response: the call was cancelled. Its handler may continue. */
  abandon(): void {
    if (this.#isOver) return;
    const stream = this.#stream;
    this.#setOver();
    this.#call.detach();
    if (!stream) {
      // The POST needs a response. A stream that ends at once does not count.
      const empty = new EventStream();
      this.#onOpen(empty.response(this.#fields));
      return empty.close();
    }
    this.#log?.end();
    this.#whenLogged(() => this.#close(stream));
  }

  #setOver(): void {
    this.#isOver = true;
    this.#options.running.delete(this);
  }

  #open(): EventStream | undefined {
    if (this.#isOver) return undefined;
    if (this.#stream) return this.#stream;
    if (this.#call.isCancelled) return void this.abandon();
    const { session, revision, request: { id = null } } = this.#call;
    try {
      this.#release = this.#options.openStreams.open(this.#call, session);
    } catch (error) {
      // The response is one JSON text then, and notifications are dropped.
      if (!this.#refusal) this.#watchRequest();
      this.#refusal = error;
      return undefined;
    }
    const stream = new EventStream({
      keepAlive: this.#options.keepAlive,
      onDisconnect: () => this.#onDisconnect(),
    });
    this.#stream = stream;
    this.#options.running.add(this);
    this.#log = session && id !== null
      ? this.#options.stateful.value!.startLog(session, id, this.#call)
      : undefined;
    if (this.#log) {
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
    this.#onOpen(stream.response(this.#fields));
    // Starts to watch for cancellation. A handler that ignores it must not keep the stream open; a client that has seen its
    // end gets no response accepted any more.
    this.#call.signal.addEventListener(
      "abort",
      () => void Promise.allSettled(this.#asked).then(() => this.abandon()),
    );
    return stream;
  }

  #onDisconnect(): void {
    // Up to 2025-11-25 a client that can resume has not cancelled; nor has the client of a task.
    const canResume = this.#sentEventId && !this.#log?.isFull;
    if (!canResume && this.#call.connection.outlet) this.#call.cancel("The client disconnected");
    if (this.#call.isCancelled) this.#release();
    else this.#keepSlot();
  }

  /** For a call without a stream, which its client cannot resume. */
  #watchRequest(): void {
    const signal = this.#call.connection.request?.signal;
    const onAbort = (): void => this.#stream ? undefined : this.#onDisconnect();
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
  }

  /** A call that goes on without its connection counts until it ends. A stream that resumes it counts in its place. */
  #keepSlot(): void {
    if (this.#log) this.#release = this.#options.openStreams.keep(this.#log.stream, this.#release);
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
