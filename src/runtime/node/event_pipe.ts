/**
 * Writes server-sent events directly into a response of `node:http`, so that an idle stream has no `ReadableStream` with its
 * controller, reader and promises: 3 of the 9 kB of heap that an idle stream took beside those of Node.
 *
 * @module
 */
import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers";
import { FastResponse } from "srvx/node";
import { type EventChannel, type EventReader, StreamChannel } from "../../http/event_stream.ts";
import type { Fields } from "../../http/response.ts";
import { timerDelay } from "../../timer.ts";
import { detach, type EventOutput } from "./detached_response.ts";

/** By interval in milliseconds: a process has one or two. */
const intervals = new Map<number, SharedInterval>();

export class EventPipe implements EventChannel {
  readonly #reader: EventReader;
  readonly #intervalMs: number;
  readonly #slot: Set<Member>;
  #target: EventOutput | undefined;
  /** Takes over when a program asks for the body as a stream. */
  #channel: StreamChannel | undefined;
  /** Events that wait: before `pipe`, and while the target is full. */
  #queue: string[] | undefined = [];
  #isClosed = false;
  #error: Error | undefined;

  constructor(reader: EventReader, intervalMs: number) {
    this.#reader = reader;
    this.#intervalMs = intervalMs;
    let interval = intervals.get(intervalMs);
    if (!interval) intervals.set(intervalMs, interval = new SharedInterval(intervalMs));
    this.#slot = interval.add(reader);
  }

  respond(fields: Fields): Response {
    return new EventResponse(this, fields) as Response;
  }

  get waiting(): number {
    return this.#channel ? this.#channel.waiting : this.#queue?.length ?? 0;
  }

  write(text: string): void {
    if (this.#channel) this.#channel.write(text);
    else if (this.#queue) this.#queue.push(text);
    else if (!this.#target!.write(text)) this.#wait();
  }

  close(): void {
    this.#isClosed = true;
    this.#leaveInterval();
    if (this.#channel) this.#channel.close();
    else if (!this.#queue) this.#target!.end();
  }

  fail(error: Error): void {
    this.#error = error;
    this.#leaveInterval();
    if (this.#channel) return this.#channel.fail(error);
    this.#queue = [];
    this.#target?.destroy();
  }

  /** Starts to write into a response. @param isDetached whether it takes the connection of the response, where Node allows it */
  pipe(target: ServerResponse, isDetached = false): void {
    this.#target = target;
    if (this.#error) target.destroy();
    if (target.destroyed) return this.#cancel();
    target.on("close", () => this.#cancel());
    this.#flush();
    // Not in the events of the parser.
    if (isDetached) setImmediate(() => this.#detach(target));
  }

  /** The events as a stream, instead of `pipe`. */
  toStream(): ReadableStream<Uint8Array> {
    this.#leaveInterval();
    const channel = this.#channel = new StreamChannel(this.#reader, this.#intervalMs);
    for (const text of this.#queue ?? []) channel.write(text);
    if (this.#error) channel.fail(this.#error);
    else if (this.#isClosed) channel.close();
    return channel.body;
  }

  #detach(response: ServerResponse): void {
    const detached = this.#isClosed || this.#queue ? undefined : detach(response);
    if (!detached) return;
    this.#target = detached;
    detached.on("close", () => this.#cancel());
  }

  #cancel(): void {
    this.#queue = [];
    this.#leaveInterval();
    this.#reader.onCancel();
  }

  #flush(): void {
    const waiting = this.#queue!;
    this.#queue = undefined;
    // When the target is full, the rest waits again.
    for (const text of waiting) this.write(text);
    this.#reader.onRead();
    if (this.#isClosed && !this.#queue) this.#target!.end();
  }

  #wait(): void {
    this.#queue = [];
    this.#target!.once("drain", () => this.#flush());
  }

  #leaveInterval(): void {
    intervals.get(this.#intervalMs)!.remove(this.#reader, this.#slot);
  }
}

/** A response of srvx, whose body is a stream only for a program that asks for it: `node_answer.ts` does not. */
export class EventResponse extends FastResponse {
  #events: EventPipe | undefined;
  /** The response with the stream. */
  #converted: Response | undefined;

  constructor(events: EventPipe, fields: Fields) {
    super(null, { status: 200, headers: fields as [string, string][] });
    this.#events = events;
  }

  /** The events, unless a program has asked for the body. */
  get events(): EventPipe | undefined {
    return this.#events;
  }

  /** What all members are read from that srvx does not know itself. */
  get _response(): Response {
    if (!this.#converted) {
      const { status, headers } = this;
      this.#converted = new Response(this.#events!.toStream(), { status, headers });
      this.#events = undefined;
    }
    return this.#converted;
  }
}

/** An interval is divided into so many ticks, and each tick serves a part of the members. */
const TICKS = 16;

export interface Member {
  onInterval(): void;
}

/**
 * One timer for the keep-alive comments of all open streams: a timer of its own for each takes 250 bytes, and thousands
 * that are due at once hold the event loop.
 */
export class SharedInterval {
  readonly #tickMs: number;
  readonly #slots = Array.from({ length: TICKS }, () => new Set<Member>());
  #next = 0;
  #size = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param intervalMs between two calls of a member */
  constructor(intervalMs: number) {
    this.#tickMs = Math.max(1, timerDelay(intervalMs) / TICKS);
  }

  /** The first call comes after the interval, or up to a tick earlier. Returns the slot, for `remove`. */
  add(member: Member): Set<Member> {
    // The slot that was served last.
    const slot = this.#slots[(this.#next + TICKS - 1) % TICKS]!;
    slot.add(member);
    this.#size++;
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs);
    return slot;
  }

  remove(member: Member, slot: Set<Member>): void {
    if (!slot.delete(member) || --this.#size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const slot = this.#slots[this.#next]!;
    this.#next = (this.#next + 1) % TICKS;
    for (const member of slot) member.onInterval();
  }
}
