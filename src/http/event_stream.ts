/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as the body of a response, with
 * keep-alive comments, backpressure, and a callback when the client disconnects.
 *
 * @module
 */
import { type Fields, respond } from "./response.ts";
import { timerDelay } from "../timer.ts";

/** The default interval of keep-alive comments: proxies and clients close idle connections after a minute or more. */
const KEEP_ALIVE_MS = 15_000;

/** With this many events queued for a slow reader, the stream is full. */
const HIGH_WATER_EVENTS = 64;
/** With more events queued, the stream fails. */
const MAX_QUEUED_EVENTS = 2000;

export interface EventStreamOptions {
  /** Called when the client disconnects. Not called after `close()`. */
  readonly onDisconnect?: () => void;
  /** Called at every keep-alive interval, for periodic checks. */
  readonly onKeepAlive?: () => void;
  /** The interval of keep-alive comments, in milliseconds. @default 15000 */
  readonly keepAlive?: number | undefined;
}

/** How often to check whether a slow reader has read. */
const POLL_INTERVAL_MS = 50;

const FIELDS: Fields = [
  ["content-type", "text/event-stream"],
  // Prevents proxies from buffering events.
  ["cache-control", "no-cache, no-transform"],
  ["x-accel-buffering", "no"],
];

const encoder = new TextEncoder();

/** A stream of events to one client. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #open = true;
  #timer: ReturnType<typeof setInterval>;
  #waiting: (() => void)[] = [];
  readonly #onDisconnect: (() => void) | undefined;

  constructor({ onDisconnect, onKeepAlive, keepAlive = KEEP_ALIVE_MS }: EventStreamOptions = {}) {
    this.#onDisconnect = onDisconnect;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#release(),
      cancel: () => {
        if (!this.#open) return;
        this.#end();
        onDisconnect?.();
      },
    }, { highWaterMark: HIGH_WATER_EVENTS });
    this.#timer = setInterval(() => {
      // A full stream needs no comment: events are waiting already.
      if ((this.#controller.desiredSize ?? 0) > 0) this.comment();
      onKeepAlive?.();
    }, timerDelay(keepAlive));
  }

  /** `false` after `close()` or when the client has disconnected. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether the queue has reached its high-water mark. */
  get isFull(): boolean {
    return this.#open && (this.#controller.desiredSize ?? 0) <= 0;
  }

  /** Resolves when the stream is no longer full, or no longer open. */
  async waitUntilWritable(): Promise<void> {
    while (this.isFull) {
      // workerd calls `pull` only when the queue is empty, so the queue is also polled.
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        timer = setTimeout(resolve, POLL_INTERVAL_MS);
      });
      clearTimeout(timer);
    }
  }

  /** Sends an event. `data` must be a single line, such as JSON text. */
  send(
    data: string,
    { id, event }: { readonly id?: string | undefined; readonly event?: string } = {},
  ): void {
    this.#write(
      (event === undefined ? "" : `event: ${event}\n`) + (id === undefined ? "" : `id: ${id}\n`) +
        (data === "" ? "data:\n\n" : `data: ${data}\n\n`),
    );
  }

  /** Sends a comment, to keep the connection open or to start the response: runtimes send headers with the first bytes. */
  comment(): void {
    this.#write(":\n\n");
  }

  /** Sets how long the client should wait before it reconnects, in milliseconds. */
  retry(milliseconds: number): void {
    this.#write(`retry: ${milliseconds}\n\n`);
  }

  /** Ends the stream after the queued events. */
  close(): void {
    if (!this.#open) return;
    this.#end();
    this.#controller.close();
  }

  /** The response with this stream as its body. */
  response(more: Fields = []): Response {
    return respond(200, this.body, [...FIELDS, ...more]);
  }

  #write(text: string): void {
    if (!this.#open) return;
    if (this.#controller.desiredSize! > HIGH_WATER_EVENTS - MAX_QUEUED_EVENTS) {
      this.#controller.enqueue(encoder.encode(text));
      return;
    }
    // A client that does not read must not use up the memory.
    this.#end();
    this.#controller.error(new Error("Event stream closed: the client reads too slowly"));
    this.#onDisconnect?.();
  }

  #end(): void {
    this.#open = false;
    clearInterval(this.#timer);
    this.#release();
  }

  #release(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
