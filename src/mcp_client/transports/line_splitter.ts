/**
 * Splits bytes into lines of UTF-8 text as they arrive.
 *
 * @module
 */
import { ByteBuffer } from "../../http/body/byte_buffer.ts";

const LINE_FEED = 10;
// Invalid bytes become U+FFFD, within strings of JSON without consequence.
const utf8 = new TextDecoder();

/** Reads lines of one stream. */
export class LineSplitter {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  /** The beginning of a line that has not ended. */
  readonly #held = new ByteBuffer();

  /** @param onLine gets each line that is not blank */
  constructor(limit: number, onLine: (line: string) => void) {
    this.#limit = limit;
    this.#onLine = onLine;
  }

  /** @returns `false` for a line beyond the limit, in bytes: do not push more */
  push(chunk: Uint8Array): boolean {
    for (let start = 0;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
      if (this.#held.length + piece.length > this.#limit) return false;
      if (end < 0) {
        if (piece.length > 0) this.#held.append(piece);
        return true;
      }
      start = end + 1;
      let line: string;
      if (this.#held.length === 0) line = utf8.decode(piece);
      else {
        this.#held.append(piece);
        line = utf8.decode(this.#held.take());
      }
      if (line.trim() !== "") this.#onLine(line);
    }
  }

  /** Gives what follows the last line. */
  end(): void {
    const line = utf8.decode(this.#held.take());
    if (line.trim() !== "") this.#onLine(line);
  }
}
