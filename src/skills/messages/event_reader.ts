/**
 * Parses server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream) from
 * chunks of any size.
 *
 * @module
 */
import { ByteBuffer } from "../../http/body/byte_buffer.ts";
import { SkillError } from "../error.ts";

export interface ServerSentEvent {
  /** `message` when the stream omits it. */
  readonly event: string;
  readonly data: string;
}

/** Bytes of one line, and characters of one event. */
const MAX_EVENT_LENGTH = 32 * 1024 * 1024;

/**
 * The events of a stream; an event ends with an empty line.
 * @throws {SkillError} for invalid UTF-8
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const lines = new Lines();
  const fields = new Fields();
  for await (const chunk of chunks) {
    for (const line of lines.add(chunk)) {
      const event = fields.add(line);
      if (event) yield event;
    }
  }
  const event = fields.add(lines.end());
  if (event) yield event;
}

const CR = 13;
const LF = 10;

/** Bytes as lines, which end with LF, CR or both. */
class Lines {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  readonly #rest = new ByteBuffer();
  #isFirst = true;
  /** Where the search continues, so that a long line is searched once. */
  #from = 0;

  *add(chunk: Uint8Array): Generator<string> {
    const rest = this.#rest;
    rest.append(chunk);
    const bytes = rest.view();
    let start = 0;
    let at = this.#from;
    for (; at < bytes.length; at++) {
      if (bytes[at] !== LF && bytes[at] !== CR) continue;
      // The LF of a CR LF may be in the next chunk.
      if (bytes[at] === CR && at === bytes.length - 1) break;
      yield this.#decode(bytes.subarray(start, at));
      if (bytes[at] === CR && bytes[at + 1] === LF) at++;
      start = at + 1;
    }
    rest.discard(start);
    if (rest.length > MAX_EVENT_LENGTH) throw tooLong();
    this.#from = at - start;
  }

  /** The last line, if a CR ended it; an unfinished line is ignored. */
  end(): string {
    const bytes = this.#rest.view();
    return bytes.at(-1) === CR ? this.#decode(bytes.subarray(0, -1)) : " ";
  }

  /** A byte order mark may open the stream. */
  #decode(bytes: Uint8Array): string {
    let line: string;
    try {
      line = this.#decoder.decode(bytes);
    } catch (cause) {
      throw new SkillError("api_error", "The response of the model endpoint is not UTF-8", {
        status: 502,
        cause,
      });
    }
    const isMarked = this.#isFirst && line.startsWith("\ufeff");
    this.#isFirst = false;
    return isMarked ? line.slice(1) : line;
  }
}

/** Lines as events. */
class Fields {
  #event = "";
  #data: string[] = [];
  #length = 0;

  /** The event that the line ends. */
  add(line: string): ServerSentEvent | undefined {
    if (line === "") {
      const ended = this.#data.length > 0
        ? { event: this.#event || "message", data: this.#data.join("\n") }
        : undefined;
      this.#event = "";
      this.#data = [];
      this.#length = 0;
      return ended;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#event = value;
    if (name !== "data") return undefined;
    // An empty line counts too.
    this.#length += value.length + 1;
    if (this.#length > MAX_EVENT_LENGTH) throw tooLong();
    this.#data.push(value);
    return undefined;
  }
}

function tooLong(): Error {
  return new Error(`An event is longer than ${MAX_EVENT_LENGTH} characters`);
}
