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

/** The reader of an {@linkcode EventChannel}. */
export interface EventReader {
  /** It reads again, after events had to wait. */
  onRead(): void;
  /** It is gone. */
  onCancel(): void;
  /** Called in the interval of keep-alive comments, while the channel is open. */
  onInterval(): void;
}

/** What carries the text of events to the client. */
export interface EventChannel {
  /** The response whose body are the events. */
  respond(fields: Fields): Response;
  /** The number of events that wait for the reader. */
  readonly waiting: number;
  write(text: string): void;
  /** Ends the body after the events that wait. */
  close(): void;
  fail(error: Error): void;
}

/** @param intervalMs of keep-alive comments */
export type CreateEventChannel = (reader: EventReader, intervalMs: number) => EventChannel;

let createChannel: CreateEventChannel = (reader, intervalMs) => new StreamChannel(reader, intervalMs);

/** Creates all channels with `create` from now on. A runtime entry that has a lighter one calls it before it serves. */
export function useEventChannel(create: CreateEventChannel): void {
  createChannel = create;
}

/** A channel for every runtime. */
export class StreamChannel implements EventChannel {
  readonly body: ReadableStream<Uint8Array>;
  readonly #timer: ReturnType<typeof setInterval>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(reader: EventReader, intervalMs: number) {
    this.#timer = setInterval(() => reader.onInterval(), timerDelay(intervalMs));
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => reader.onRead(),
      cancel: () => {
        clearInterval(this.#timer);
        reader.onCancel();
      },
    }, { highWaterMark: HIGH_WATER_EVENTS });
  }

  respond(fields: Fields): Response {
    return respond(200, this.body, fields);
  }

  get waiting(): number {
    return HIGH_WATER_EVENTS - (this.#controller.desiredSize ?? HIGH_WATER_EVENTS);
  }

  write(text: string): void {
    this.#controller.enqueue(encoder.encode(text));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#controller.close();
  }

  fail(error: Error): void {
    clearInterval(this.#timer);
    this.#controller.error(error);
  }
}

/** A stream of events to one client. */
export class EventStream implements EventReader {
  readonly #channel: EventChannel;
  readonly #onDisconnect: (() => void) | undefined;
  readonly #onKeepAlive: (() => void) | undefined;
  #open = true;
  #waiting: (() => void)[] | undefined;

  constructor({ onDisconnect, onKeepAlive, keepAlive = KEEP_ALIVE_MS }: EventStreamOptions = {}) {
    this.#onDisconnect = onDisconnect;
    this.#onKeepAlive = onKeepAlive;
    this.#channel = createChannel(this, keepAlive);
  }

  /** `false` after `close()` or when the client has disconnected. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether the queue has reached its high-water mark. */
  get isFull(): boolean {
    return this.#open && this.#channel.waiting >= HIGH_WATER_EVENTS;
  }

  /** Resolves when fewer events wait for the reader than make the stream full, or `events`, or when it is no longer open. */
  async waitUntilWritable(events: number = HIGH_WATER_EVENTS): Promise<void> {
    while (this.#open && this.#channel.waiting >= events) {
      // workerd calls `pull` only when the queue is empty, so the queue is also polled.
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        (this.#waiting ??= []).push(resolve);
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
    this.#channel.close();
  }

  onRead(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const resume of waiting) resume();
  }

  onCancel(): void {
    if (!this.#open) return;
    this.#end();
    this.#onDisconnect?.();
  }

  /** The response with this stream as its body. */
  response(more: Fields = []): Response {
    return this.#channel.respond([...FIELDS, ...more]);
  }

  onInterval(): void {
    // A full stream needs no comment: events are waiting already.
    if (!this.isFull) this.comment();
    this.#onKeepAlive?.();
  }

  #write(text: string): void {
    if (!this.#open) return;
    if (this.#channel.waiting < MAX_QUEUED_EVENTS) return this.#channel.write(text);
    // A client that does not read must not use up the memory.
    this.#end();
    this.#channel.fail(new Error("Event stream closed: the client reads too slowly"));
    this.#onDisconnect?.();
  }

  #end(): void {
    this.#open = false;
    this.onRead();
  }
}
