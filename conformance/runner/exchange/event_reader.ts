/**
 * Reads `text/event-stream` from chunks (HTML standard, section 9.2.6).
 *
 * @module
 */
import { join, toStrictText, toText } from "./bytes.ts";
import { GrowingBytes } from "./growing_bytes.ts";
import { parseJson } from "../vector/match.ts";
import type { JsonObject } from "../vector/vector_file.ts";

/** Limit of events that one call returns. */
const MAX_EVENTS_PER_CALL = 20_000;
const LF = 10;
const CR = 13;

export class EventReader {
  /** The line that has not ended. */
  readonly #line = new GrowingBytes();
  /** Bytes after the last event of a call that reached its limit. */
  #unread: Uint8Array = new Uint8Array();
  #isAfterCr = false;
  #isBegun = false;
  #event: Record<string, unknown> = {};
  #data: string[] = [];
  #isUtf8 = true;

  /** Returns the events that a chunk completes. Events above the limit are returned by the next call. */
  push(chunk: Uint8Array, maxEvents: number = MAX_EVENTS_PER_CALL): JsonObject[] {
    const bytes = this.#unread.length > 0 ? join([this.#unread, chunk]) : chunk;
    this.#unread = new Uint8Array();
    if (bytes.length === 0) return [];
    const events: JsonObject[] = [];
    // A CR ends its line at once. An LF that follows belongs to it and is skipped when it arrives.
    let start = this.#isAfterCr && bytes[0] === LF ? 1 : 0;
    this.#isAfterCr = false;
    const next = { lf: indexOfByte(bytes, LF, start), cr: indexOfByte(bytes, CR, start) };
    for (;;) {
      if (next.lf < start) next.lf = indexOfByte(bytes, LF, start);
      if (next.cr < start) next.cr = indexOfByte(bytes, CR, start);
      const end = Math.min(next.lf, next.cr);
      if (end === Infinity) break;
      this.#line.add(bytes.subarray(start, end));
      start = end + (bytes[end] === CR && bytes[end + 1] === LF ? 2 : 1);
      this.#isAfterCr = bytes[end] === CR && end + 1 === bytes.length;
      const event = this.#endLine();
      if (event && events.push(event) >= maxEvents) {
        this.#unread = bytes.slice(start);
        return events;
      }
    }
    // An unfinished line is stored, so that each byte is searched once.
    if (start < bytes.length) this.#line.add(bytes.subarray(start));
    return events;
  }

  #endLine(): JsonObject | undefined {
    const bytes = this.#line.take();
    let line = toStrictText(bytes);
    this.#isUtf8 &&= line !== undefined;
    line ??= toText(bytes);
    if (!this.#isBegun && line.startsWith("\ufeff")) line = line.slice(1);
    this.#isBegun = true;
    return this.#take(line);
  }

  #take(line: string): JsonObject | undefined {
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

/** The index of a byte, or Infinity. */
function indexOfByte(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? Infinity : at;
}
