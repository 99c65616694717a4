/**
 * Reading server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream),
 * however the bytes are split.
 *
 * @module
 */

export interface ServerSentEvent {
  /** `message` when the stream names none. */
  readonly event: string;
  readonly data: string;
}

/** Characters of one event: an answer with a file in it is large, but not endless. */
const MOST = 32 * 1024 * 1024;

/** The events of a stream. What is not ended by an empty line is no event. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  const lines = new Lines();
  const fields = new Fields();
  for await (const chunk of chunks) {
    for (const line of lines.add(decoder.decode(chunk, { stream: true }))) {
      const event = fields.add(line);
      if (event) yield event;
    }
  }
  const event = fields.add(lines.end());
  if (event) yield event;
}

/** Text as lines, which end with LF, CR or both. */
class Lines {
  #rest = "";
  // Where to look on: a long line is searched once.
  #from = 0;

  *add(text: string): Generator<string> {
    const end = /[\r\n]/g;
    let rest = this.#rest + text;
    let start = 0;
    end.lastIndex = this.#from;
    for (let found = end.exec(rest); found; found = end.exec(rest)) {
      const at = found.index;
      // The LF of a CR LF may come next.
      if (rest[at] === "\r" && at === rest.length - 1) break;
      yield rest.slice(start, at);
      start = end.lastIndex = rest.startsWith("\r\n", at) ? at + 2 : at + 1;
    }
    rest = rest.slice(start);
    if (rest.length > MOST) throw tooLong();
    this.#from = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    this.#rest = rest;
  }

  /** A last line that its CR ended. What nothing ended is a field of no event. */
  end(): string {
    return this.#rest.endsWith("\r") ? this.#rest.slice(0, -1) : " ";
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
    this.#length += value.length;
    if (this.#length > MOST) throw tooLong();
    this.#data.push(value);
    return undefined;
  }
}

function tooLong(): Error {
  return new Error(`An event is longer than ${MOST} characters`);
}
