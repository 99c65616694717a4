/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as the body of a response: with
 * comments that keep quiet connections open, and with word of when the reader is slow or gone.
 *
 * @module
 */
import { type Fields, respond } from "./response.ts";
import { timerDelay } from "./timer.ts";

/** Milliseconds of quiet after which a comment is sent; proxies and clients hang up after a minute or more. */
const KEEP_ALIVE = 15_000;

/** Events that may wait for a slow reader before it counts as full, and before it counts as gone. */
const HIGH_WATER = 64;
const MOST = 2000;

export interface EventStreamOptions {
  /** Hears that the reader is gone. Not called after `close()`. */
  readonly onGone?: () => void;
  /** Called with every comment: a place to look for what may have been missed. */
  readonly onQuiet?: () => void;
  /** Milliseconds. @default 15000 */
  readonly keepAlive?: number | undefined;
}

/** How often to look whether a slow reader has read, in milliseconds. */
const LOOK_EVERY = 50;

const FIELDS: Fields = [
  ["content-type", "text/event-stream"],
  // Proxies would keep events back until they have a page of them.
  ["cache-control", "no-cache, no-transform"],
  ["x-accel-buffering", "no"],
];

const encoder = new TextEncoder();

/** One stream to one reader. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #open = true;
  #timer: ReturnType<typeof setInterval>;
  #waiting: (() => void)[] = [];
  readonly #onGone: (() => void) | undefined;

  constructor({ onGone, onQuiet, keepAlive = KEEP_ALIVE }: EventStreamOptions = {}) {
    this.#onGone = onGone;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#release(),
      cancel: () => {
        if (!this.#open) return;
        this.#end();
        onGone?.();
      },
    }, { highWaterMark: HIGH_WATER });
    this.#timer = setInterval(() => {
      // A reader that takes nothing needs no comments on top.
      if ((this.#controller.desiredSize ?? 0) > 0) this.comment();
      onQuiet?.();
    }, timerDelay(keepAlive));
  }

  /** False when it was closed or the reader is gone. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** More waits for the reader than should. */
  get isFull(): boolean {
    return this.#open && (this.#controller.desiredSize ?? 0) <= 0;
  }

  /** Resolves when there is room again, or nobody reads any more. */
  async room(): Promise<void> {
    while (this.isFull) {
      // Workerd tells of reads only when nothing is left to read.
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        timer = setTimeout(resolve, LOOK_EVERY);
      });
      clearTimeout(timer);
    }
  }

  /** One event. `data` is a single line, as JSON text is. */
  send(
    data: string,
    { id, event }: { readonly id?: string | undefined; readonly event?: string } = {},
  ): void {
    this.#write(
      (event === undefined ? "" : `event: ${event}\n`) + (id === undefined ? "" : `id: ${id}\n`) +
        (data === "" ? "data:\n\n" : `data: ${data}\n\n`),
    );
  }

  /** Nothing, to keep the connection open, or to begin: runtimes send the header fields with the first bytes. */
  comment(): void {
    this.#write(":\n\n");
  }

  /** How long the reader should wait before it comes back, in milliseconds. */
  retry(milliseconds: number): void {
    this.#write(`retry: ${milliseconds}\n\n`);
  }

  /** Ends the stream after what was sent. */
  close(): void {
    if (!this.#open) return;
    this.#end();
    this.#controller.close();
  }

  /** The response that carries it. */
  response(more: Fields = []): Response {
    return respond(200, this.body, [...FIELDS, ...more]);
  }

  #write(text: string): void {
    if (!this.#open) return;
    if (this.#controller.desiredSize! > HIGH_WATER - MOST) {
      this.#controller.enqueue(encoder.encode(text));
      return;
    }
    // Who reads nothing must not fill the memory.
    this.#end();
    this.#controller.error(new Error("The reader is too slow"));
    this.#onGone?.();
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
