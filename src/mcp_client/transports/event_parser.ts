/**
 * Parses server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation) as
 * they arrive, in time linear in their length, however small the chunks are.
 *
 * @module
 */

/** An event with data, or an id without data. */
export interface ServerEvent {
  /** `message` unless the stream names another type. */
  readonly type: string;
  readonly data: string;
}

/** Thrown for an event, or a line of a comment, beyond the limit. */
export class EventTooLarge extends Error {
  override readonly name = "EventTooLarge";
}

/** Reads the events of one stream, or of its continuations. */
export class EventParser {
  /** The id of the last whole event, for `Last-Event-ID`. */
  lastId: string | undefined;
  /** The time to wait before reconnecting, in milliseconds, if the server sent one. */
  retry: number | undefined;
  readonly #limit: number;
  readonly #onEvent: (event: ServerEvent) => void;
  #decoder = new TextDecoder();
  /** The beginning of a line that has not ended. */
  #pieces: string[] = [];
  #held = 0;
  #endsWithReturn = false;
  #data: string[] = [];
  #size = 0;
  #type = "";
  /** Becomes {@linkcode lastId} when the event ends: the server must send an event again that was cut off. */
  #id: string | undefined;

  /** @param limit characters of an event */
  constructor(limit: number, onEvent: (event: ServerEvent) => void) {
    this.#limit = limit;
    this.#onEvent = onEvent;
  }

  /** Forgets an event that has not ended, before a continuation of the stream. */
  restart(): void {
    this.#decoder = new TextDecoder();
    this.#pieces = [];
    this.#held = 0;
    this.#endsWithReturn = false;
    this.#id = this.lastId;
    this.#clear();
  }

  /** @throws {EventTooLarge} */
  push(chunk: Uint8Array): void {
    let text = this.#decoder.decode(chunk, { stream: true });
    if (this.#endsWithReturn && text !== "") {
      this.#endsWithReturn = false;
      if (text.startsWith("\n")) text = text.slice(1);
    }
    let lineFeed = text.indexOf("\n");
    let carriageReturn = text.indexOf("\r");
    let start = 0;
    for (;;) {
      if (lineFeed >= 0 && lineFeed < start) lineFeed = text.indexOf("\n", start);
      if (carriageReturn >= 0 && carriageReturn < start) carriageReturn = text.indexOf("\r", start);
      const end = lineFeed < 0 || carriageReturn >= 0 && carriageReturn < lineFeed
        ? carriageReturn
        : lineFeed;
      if (end < 0) break;
      this.#line(this.#join(text.slice(start, end)));
      start = end + 1;
      if (end !== carriageReturn) continue;
      if (start === text.length) this.#endsWithReturn = true;
      else if (text.charCodeAt(start) === 10) start++;
    }
    if (start < text.length) {
      this.#pieces.push(start === 0 ? text : text.slice(start));
      this.#held += text.length - start;
      this.#check(this.#held);
    }
  }

  #join(end: string): string {
    if (this.#held === 0) return end;
    this.#pieces.push(end);
    const line = this.#pieces.join("");
    this.#pieces = [];
    this.#held = 0;
    return line;
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === "data") {
      this.#size += value.length + 1;
      this.#check(this.#size);
      this.#data.push(value);
    } else if (field === "event") this.#type = value;
    else if (field === "id") {
      // Sent back in a header field, so that characters that a field cannot hold make it useless.
      if (/^[\x20-\x7e]{0,1024}$/.test(value)) this.#id = value === "" ? undefined : value;
    } else if (field === "retry" && /^\d{1,9}$/.test(value)) this.retry = Number(value);
  }

  #dispatch(): void {
    const data = this.#data.length === 1 ? this.#data[0]! : this.#data.join("\n");
    const type = this.#type === "" ? "message" : this.#type;
    this.#clear();
    this.lastId = this.#id;
    if (data !== "") this.#onEvent({ type, data });
  }

  #clear(): void {
    this.#data = [];
    this.#size = 0;
    this.#type = "";
  }

  #check(size: number): void {
    if (size > this.#limit) throw new EventTooLarge("event too large");
  }
}
