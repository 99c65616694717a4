/**
 * Reads event streams of Streamable HTTP, and resumes them where the revision allows it.
 *
 * @module
 */
import { mediaType } from "../../http/body/media_type.ts";
import { ConnectionError } from "../error.ts";
import { EventParser, EventTooLarge, type ServerEvent } from "./event_parser.ts";
import { readChunks, tooLarge } from "./http_body.ts";
import { discardBody, type HttpSender } from "./http_sender.ts";
import { isResponseTo, parseMessages } from "../message.ts";
import { MODERN } from "../revision.ts";
import {
  type IncomingResponse,
  type OutgoingRequest,
  type Receiver,
  SessionLost,
  type StreamEnd,
} from "../transport.ts";
import { wait } from "../wait.ts";

/** How often a stream is resumed without any new event. */
const MAX_EMPTY_RESUMPTIONS = 5;
const DEFAULT_RETRY_MS = 1000;
/** A server that ends every stream at once would otherwise be asked without a pause. */
const MIN_RETRY_MS = 20;
const MAX_RETRY_MS = 30_000;
/** How long to wait for the end of a stream after the response, so that its connection can be used again. */
const DRAIN_MS = 1000;
const MAX_DRAINED_CHUNKS = 16;

type Fields = Readonly<Record<string, string>>;

/** An open stream, or the status of a response without one, and the milliseconds of its `Retry-After`. */
type Opened = ReadableStream<Uint8Array> | { readonly status: number; readonly retry: number | undefined };

/** The event streams of one channel. */
export class HttpStreams {
  readonly #sender: HttpSender;
  readonly #receiver: Receiver;
  readonly #closing = new AbortController();
  /** Functions that end the bodies whose rest is read. */
  readonly #draining = new Set<() => void>();
  /** The id of the last event of the stream that `listen` reads. */
  #lastId: string | undefined;
  /** Whether `listen` has read a stream in this session. */
  #hasListened = false;

  constructor(sender: HttpSender, receiver: Receiver) {
    this.#sender = sender;
    this.#receiver = receiver;
  }

  /** Aborts when the channel closes. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  close(): void {
    const closed = new ConnectionError("closed", this.#sender.name, "the connection was closed");
    this.#closing.abort(closed);
    for (const stop of this.#draining) stop();
  }

  /** Forgets where the stream of `listen` ended, as a session begins. */
  forget(): void {
    this.#lastId = undefined;
    this.#hasListened = false;
  }

  /**
   * Reads the stream of a request until its response.
   * @throws {ConnectionError} if it ends before, and cannot be resumed
   */
  async read(
    body: ReadableStream<Uint8Array>,
    request: OutgoingRequest,
    fields: Fields,
  ): Promise<IncomingResponse> {
    const { id, signal } = request;
    const { messageBytes } = this.#receiver.limits;
    let found: IncomingResponse | undefined;
    let events = 0;
    const parser = new EventParser(messageBytes, ({ type, data }: ServerEvent) => {
      events++;
      if (found || type !== "message") return;
      for (const message of parseMessages(data, this.#sender.name)) {
        if (!found && isResponseTo(message, id)) {
          found = { result: message.result, error: message.error, bytes: data.length };
        } else this.#receiver.receive(message, id);
      }
    });
    const isResumable = request.revision !== undefined && request.revision !== MODERN;
    for (let empty = 0;;) {
      const before = events;
      const { lastId } = parser;
      const failure = await this.#follow(body, parser, signal, () => found !== undefined);
      if (found) return found;
      // A server that is polled sends a new id without data.
      empty = events > before || parser.lastId !== lastId ? 0 : empty + 1;
      if (!isResumable || parser.lastId === undefined || empty >= MAX_EMPTY_RESUMPTIONS) {
        const what = "ended the event stream before the response. Check whether the request took effect";
        throw failure ?? new ConnectionError("closed", this.#sender.name, what);
      }
      parser.restart();
      const retry = toPause(parser.retry);
      // Otherwise the connection was lost.
      if (failure === undefined && parser.retry !== undefined) request.onPolling(retry);
      await wait(retry, signal);
      const resumed = { ...fields, "last-event-id": parser.lastId };
      body = await this.#resume(resumed, request, retry, MAX_EMPTY_RESUMPTIONS - empty);
    }
  }

  /** Opens a stream again. A server that restarts, or whose store is away, keeps its events meanwhile. */
  async #resume(
    fields: Fields,
    { caller, signal }: OutgoingRequest,
    pause: number,
    attempts: number,
  ): Promise<ReadableStream<Uint8Array>> {
    let cause: unknown;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      let retry: number | undefined;
      try {
        const opened = await this.#get(fields, caller, signal);
        if (!("status" in opened)) return opened;
        if (!isPassing(opened.status)) break;
        retry = opened.retry;
      } catch (error) {
        cause = error;
        const isAway = error instanceof ConnectionError && error.reason === "unreachable" && !signal.aborted;
        if (!isAway) throw error;
      }
      if (attempt < attempts) await wait(Math.max(toPause(pause * 2 ** attempt), retry ?? 0), signal);
    }
    throw new ConnectionError("closed", this.#sender.name, "the event stream could not be resumed", {
      cause,
    });
  }

  /** The stream for messages that belong to no request (2025-03-26 to 2025-11-25). Resolves when it has ended. */
  async listen(
    fields: Fields,
    caller: unknown,
    signal: AbortSignal,
    onOpen: (isNew: boolean) => void,
  ): Promise<StreamEnd> {
    const resumed = this.#lastId === undefined ? fields : { ...fields, "last-event-id": this.#lastId };
    const opened = await this.#get(resumed, caller, signal);
    const isOpen = !("status" in opened);
    onOpen(isOpen && this.#lastId === undefined);
    if ("status" in opened) {
      // Servers without this stream answer 404 too, but not after they have sent one (2025-11-25, session management).
      if (opened.status === 404 && this.#hasListened) throw new SessionLost("session not found");
      return isPassing(opened.status) ? { retry: opened.retry } : "unsupported";
    }
    this.#hasListened = true;
    const { messageBytes } = this.#receiver.limits;
    const parser = new EventParser(messageBytes, ({ type, data }) => {
      if (type !== "message") return;
      for (const message of parseMessages(data, this.#sender.name)) {
        this.#receiver.receive(message, undefined);
      }
    });
    const failure = await this.#follow(opened, parser, signal, () => false);
    this.#lastId = parser.lastId ?? this.#lastId;
    if (failure && failure.reason !== "closed") throw failure;
    return { retry: parser.retry };
  }

  /** Reads a body until `isDone`. Returns why it ended before, if that was no regular end. @throws other errors */
  async #follow(
    body: ReadableStream<Uint8Array>,
    parser: EventParser,
    signal: AbortSignal,
    isDone: () => boolean,
  ): Promise<ConnectionError | undefined> {
    const { messageBytes } = this.#receiver.limits;
    try {
      await readChunks(body, this.#sender.name, signal, (chunk) => {
        parser.push(chunk);
        return isDone();
      }, (reader) => this.#drain(reader));
      return undefined;
    } catch (error) {
      if (error instanceof EventTooLarge) throw tooLarge(this.#sender.name, messageBytes);
      if (error instanceof ConnectionError && error.reason === "closed" && !signal.aborted) return error;
      throw error;
    }
  }

  /** Reads what follows a response, for a moment: to cancel a body would end its connection. */
  #drain(reader: ReadableStreamDefaultReader<Uint8Array>): void {
    const stop = (): void => {
      clearTimeout(timer);
      this.#draining.delete(stop);
      reader.cancel().catch(() => {});
    };
    const timer = setTimeout(stop, DRAIN_MS);
    this.#draining.add(stop);
    const readOn = async (): Promise<void> => {
      for (let chunks = 0; chunks < MAX_DRAINED_CHUNKS && !(await reader.read()).done; chunks++);
    };
    readOn().then(stop, stop);
  }

  async #get(
    { "content-type": _, ...fields }: Fields,
    caller: unknown,
    signal: AbortSignal,
  ): Promise<Opened> {
    const accepted = { ...fields, accept: "text/event-stream" };
    const response = await this.#sender.send({ method: "GET", fields: accepted, caller, signal });
    const type = mediaType(response.headers.get("content-type"));
    if (response.ok && type === "text/event-stream" && response.body) return response.body;
    discardBody(response);
    const { status, headers } = response;
    const seconds = Number(headers.get("retry-after") ?? NaN);
    return { status, retry: Number.isNaN(seconds) ? undefined : toPause(seconds * 1000) };
  }
}

/** The pause that a server asked for, within limits. */
function toPause(retry = DEFAULT_RETRY_MS): number {
  return Math.min(Math.max(retry, MIN_RETRY_MS), MAX_RETRY_MS);
}

/** Whether the server may offer the stream later. 405 says that it never does; 501 and other answers count as that. */
function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500 && status !== 501;
}
