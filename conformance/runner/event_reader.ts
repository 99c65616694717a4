/**
 * `text/event-stream`, as the HTML standard has it (section 9.2.6), fed by chunks.
 *
 * @module
 */
import { parseJson } from "./match.ts";
import type { Members } from "./vector_file.ts";

export class EventReader {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #event: Record<string, unknown> = {};

  /** The events that a chunk completes. */
  push(chunk: Uint8Array): Members[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#rest += text;
    // A line that does not end is not looked through again and again.
    if (!/[\r\n]/.test(text) && !this.#rest.endsWith("\r", this.#rest.length - text.length)) return [];
    const events: Members[] = [];
    // A CR at the end may be half of a CRLF.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const event = this.#line(line);
      if (event) events.push(event);
    }
    return events;
  }

  #line(line: string): Members | undefined {
    if (line === "") {
      const event = this.#event;
      this.#event = {};
      if (!("data" in event) && !("id" in event)) return undefined;
      const json = typeof event["data"] === "string" ? parseJson(event["data"]) : undefined;
      return json === undefined ? event : { ...event, json };
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") {
      this.#event["data"] = "data" in this.#event ? `${this.#event["data"]}\n${value}` : value;
    } else if (name === "event" || name === "id") this.#event[name] = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.#event["retry"] = Number(value);
    return undefined;
  }
}
