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
  let event = "";
  let data: string[] = [];
  let length = 0;
  for await (const line of readLines(chunks)) {
    if (line === "") {
      if (data.length > 0) yield { event: event || "message", data: data.join("\n") };
      event = "";
      data = [];
      length = 0;
      continue;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") event = value;
    if (name !== "data") continue;
    length += value.length;
    if (length > MOST) throw tooLong();
    data.push(value);
  }
}

/** Lines end with LF, CR or both. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const lineEnd = /[\r\n]/g;
  const decoder = new TextDecoder();
  let rest = "";
  // Where in `rest` to look on: a long line is searched once.
  let from = 0;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (;;) {
      lineEnd.lastIndex = from;
      const end = lineEnd.exec(rest)?.index ?? -1;
      // The LF of a CR LF may be in the next chunk.
      if (end < 0 || rest[end] === "\r" && end === rest.length - 1) break;
      yield rest.slice(start, end);
      start = from = rest.startsWith("\r\n", end) ? end + 2 : end + 1;
    }
    rest = rest.slice(start);
    from = rest.endsWith("\r") ? rest.length - 1 : rest.length;
    if (rest.length > MOST) throw tooLong();
  }
  if (rest.endsWith("\r")) yield rest.slice(0, -1);
}

function tooLong(): Error {
  return new Error(`An event is longer than ${MOST} characters`);
}
