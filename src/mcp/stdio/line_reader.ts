/**
 * Reads a byte stream as lines of UTF-8 text.
 *
 * @module
 */
import { ByteBuffer } from "../../http/body/byte_buffer.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "../../jsonrpc/error.ts";

const MAX_LINE_BYTES = 4 * 1024 * 1024;
const LF = 10;

// Deno and workerd drop U+FEFF as a byte order mark at the start of any chunk, so the mark is handled in `toLine`.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The part of a stream of Node that is read, such as `process.stdin`. */
export interface NodeInput {
  on(event: "data", onChunk: (chunk: Uint8Array) => void): unknown;
  on(event: "end" | "close", onEnd: () => void): unknown;
  on(event: "error", onError: (error: Error) => void): unknown;
}

/**
 * Calls `onLine` with each line that is not blank, or with an error for a line that is too long or not UTF-8. Resolves at the
 * end. Not an async generator: that takes three turns of the microtask queue for each line.
 */
export async function readLines(
  input: ReadableStream<Uint8Array> | NodeInput,
  onLine: (line: string | RpcError) => void,
): Promise<void> {
  const lines = new LineReader(onLine);
  if ("getReader" in input) {
    const reader = input.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      lines.read(value);
    }
  } else {
    await new Promise<void>((resolve, reject) => {
      input.on("data", (chunk) => lines.read(chunk));
      input.on("end", resolve);
      input.on("close", resolve);
      input.on("error", reject);
    });
  }
  lines.end();
}

class LineReader {
  readonly #onLine: (line: string | RpcError) => void;
  /** The beginning of a line that has not ended. */
  readonly #held = new ByteBuffer();
  #isTooLong = false;

  constructor(onLine: (line: string | RpcError) => void) {
    this.#onLine = onLine;
  }

  read(chunk: Uint8Array): void {
    const held = this.#held;
    for (let start = 0; start < chunk.length;) {
      const found = chunk.indexOf(LF, start);
      const end = found < 0 ? chunk.length : found;
      const piece = chunk.subarray(start, end);
      start = end + 1;
      if (!this.#isTooLong && held.length + piece.length > MAX_LINE_BYTES) {
        this.#isTooLong = true;
        held.take();
        this.#onLine(tooLong());
      }
      if (found < 0) {
        if (!this.#isTooLong) held.append(piece);
        break;
      }
      const line = this.#isTooLong ? "" : held.length === 0 ? toLine(piece) : toLine(join(held, piece));
      this.#isTooLong = false;
      if (line !== "") this.#onLine(line);
    }
  }

  /** The last line needs no line feed. */
  end(): void {
    const line = toLine(this.#held.take());
    if (line !== "") this.#onLine(line);
  }
}

function join(held: ByteBuffer, piece: Uint8Array): Uint8Array {
  held.append(piece);
  return held.take();
}

/** The text of a line; empty for a blank one. */
function toLine(bytes: Uint8Array): string | RpcError {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    return new RpcError(PARSE_ERROR, "Parse error: the message is not UTF-8", undefined, { cause });
  }
  if (text.trim() === "") return "";
  // RFC 8259 section 8.1: a byte order mark may be ignored.
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

function tooLong(): RpcError {
  return new RpcError(
    INVALID_REQUEST,
    `Invalid Request: message too large. Maximum: ${MAX_LINE_BYTES} bytes`,
  );
}
