/**
 * `text/event-stream`, as the HTML standard has it (section 9.2.6), fed by chunks.
 *
 * @module
 */
import { parseJson } from "./match.ts";
import type { Members } from "./vector_file.ts";

/** Of one chunk: more than any question asks for. */
const MOST_EVENTS = 20_000;

export class EventReader {
  readonly #decoder = new TextDecoder();
  /** Of the line that has not ended. */
  #rest: string[] = [];
  #event: Record<string, unknown> = {};
  #isAfterCr = false;
  #data: string[] = [];

  /** The events that a chunk completes, so many at most: what is more is left out. */
  push(chunk: Uint8Array, most: number = MOST_EVENTS): Members[] {
    let text = this.#decoder.decode(chunk, { stream: true });
    if (text === "") return [];
    // A CR ends its line at once: whether an LF follows is seen later, and nobody waits for it.
    if (this.#isAfterCr && text.startsWith("\n")) text = text.slice(1);
    const events: Members[] = [];
    let start = 0;
    for (const found of text.matchAll(/\r\n|\n|\r/g)) {
      // A line that does not end is neither put together nor looked through with each chunk.
      const event = this.#line(this.#rest.join("") + text.slice(start, found.index));
      this.#rest = [];
      start = found.index + found[0].length;
      if (event && events.push(event) >= most) break;
    }
    this.#isAfterCr = text.endsWith("\r");
    if (start < text.length) this.#rest.push(text.slice(start));
    return events;
  }

  #line(line: string): Members | undefined {
    if (line === "") {
      const event = this.#event;
      if (this.#data.length > 0) event["data"] = this.#data.join("\n");
      this.#event = {};
      this.#data = [];
      if (!("data" in event) && !("id" in event)) return undefined;
      const json = typeof event["data"] === "string" ? parseJson(event["data"]) : undefined;
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
