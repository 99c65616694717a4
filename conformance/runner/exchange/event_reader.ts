/**
 * `text/event-stream`, as the HTML standard has it (section 9.2.6), fed by chunks.
 *
 * @module
 */
import { join, toStrictText, toText } from "./bytes.ts";
import { GrowingBytes } from "./growing_bytes.ts";
import { parseJson } from "../vector/match.ts";
import type { Members } from "../vector/vector_file.ts";

/** Of one call: more than any question asks for. */
const MAX_EVENTS = 20_000;
const LF = 10;
const CR = 13;

export class EventReader {
  /** Of the line that has not ended. */
  readonly #line = new GrowingBytes();
  /** What stands behind the most events of a call. */
  #unread: Uint8Array = new Uint8Array();
  #isAfterCr = false;
  #isBegun = false;
  #event: Record<string, unknown> = {};
  #data: string[] = [];
  #isUtf8 = true;

  /** The events that a chunk completes, so many at most: what is more comes with the next chunk. */
  push(chunk: Uint8Array, most: number = MAX_EVENTS): Members[] {
    const bytes = this.#unread.length > 0 ? join([this.#unread, chunk]) : chunk;
    this.#unread = new Uint8Array();
    if (bytes.length === 0) return [];
    const events: Members[] = [];
    // A CR ends its line at once: whether an LF follows is seen later, and nobody waits for it.
    let start = this.#isAfterCr && bytes[0] === LF ? 1 : 0;
    this.#isAfterCr = false;
    const next = { lf: find(bytes, LF, start), cr: find(bytes, CR, start) };
    for (;;) {
      if (next.lf < start) next.lf = find(bytes, LF, start);
      if (next.cr < start) next.cr = find(bytes, CR, start);
      const end = Math.min(next.lf, next.cr);
      if (end === Infinity) break;
      this.#line.add(bytes.subarray(start, end));
      start = end + (bytes[end] === CR && bytes[end + 1] === LF ? 2 : 1);
      this.#isAfterCr = bytes[end] === CR && end + 1 === bytes.length;
      const event = this.#endLine();
      if (event && events.push(event) >= most) {
        this.#unread = bytes.slice(start);
        return events;
      }
    }
    // A line that does not end is not looked through with each chunk.
    if (start < bytes.length) this.#line.add(bytes.subarray(start));
    return events;
  }

  #endLine(): Members | undefined {
    const bytes = this.#line.take();
    let line = toStrictText(bytes);
    this.#isUtf8 &&= line !== undefined;
    line ??= toText(bytes);
    if (!this.#isBegun && line.startsWith("\ufeff")) line = line.slice(1);
    this.#isBegun = true;
    return this.#take(line);
  }

  #take(line: string): Members | undefined {
    if (line === "") {
      const event = this.#event;
      const isUtf8 = this.#isUtf8;
      if (this.#data.length > 0) event["data"] = this.#data.join("\n");
      this.#event = {};
      this.#data = [];
      this.#isUtf8 = true;
      if (!("data" in event) && !("id" in event)) return undefined;
      const json = isUtf8 && typeof event["data"] === "string" ? parseJson(event["data"]) : undefined;
      return json === undefined ? event : { ...event, json };
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "event" || name === "id") this.#event[name] = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.#event["retry"] = Number(value);
    return undefined;
  }
}

/** Where the byte is, or Infinity. */
function find(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? Infinity : at;
}
