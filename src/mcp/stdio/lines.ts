/**
 * Reads and writes byte streams as lines of UTF-8 text, with back-pressure.
 *
 * @module
 */
import { ByteBuffer } from "../../http/body/byte_buffer.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "../../jsonrpc/error.ts";

const MAX_LINE_BYTES = 4 * 1024 * 1024;
const LF = 10;

// Deno and workerd drop U+FEFF as a byte order mark at the start of any chunk, so the mark is handled in `toLine`.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Calls `onLine` with each line that is not blank, or with an error for a line that is too long or not UTF-8. Resolves at the
 * end. Not an async generator: that takes three turns of the microtask queue for each line.
 */
export async function readLines(
  input: ReadableStream<Uint8Array>,
  onLine: (line: string | RpcError) => void,
): Promise<void> {
  const reader = input.getReader();
  /** The beginning of a line that has not ended. */
  const held = new ByteBuffer();
  let isTooLong = false;
  for (;;) {
    const { done, value: chunk } = await reader.read();
    if (done) break;
    for (let start = 0; start < chunk.length;) {
      const found = chunk.indexOf(LF, start);
      const end = found < 0 ? chunk.length : found;
      const piece = chunk.subarray(start, end);
      start = end + 1;
      if (!isTooLong && held.length + piece.length > MAX_LINE_BYTES) {
        isTooLong = true;
        held.take();
        onLine(tooLong());
      }
      if (found < 0) {
        if (!isTooLong) held.append(piece);
        break;
      }
      const line = isTooLong ? "" : held.length === 0 ? toLine(piece) : toLine(join(held, piece));
      isTooLong = false;
      if (line !== "") onLine(line);
    }
  }
  const line = toLine(held.take());
  if (line !== "") onLine(line);
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

/** A batch of so many characters takes no more lines. */
const MAX_BATCH_CHARACTERS = 64 * 1024;

/**
 * Writes lines in order. `write` resolves when the next may be written, `finish` when all are written. Lines that come while
 * others are written go out together: a write of its own for each took half of the processor time of 64 concurrent calls.
 */
export function writeLines(
  output: WritableStream<Uint8Array>,
): { write: (text: string) => Promise<void>; finish: () => Promise<void> } {
  const writer = output.getWriter();
  const encoder = new TextEncoder();
  /** The last batch, which takes lines until it is written. */
  let open: { text: string } | undefined;
  /** When the last batch is written. */
  let last: Promise<void> = Promise.resolve();

  async function writeAfter(before: Promise<void>, batch: { readonly text: string }): Promise<void> {
    await before.catch(() => {});
    await writer.ready;
    if (open === batch) open = undefined;
    await writer.write(encoder.encode(batch.text));
  }

  return {
    write(text) {
      if (!open || open.text.length >= MAX_BATCH_CHARACTERS) {
        open = { text: "" };
        last = writeAfter(last, open);
      }
      open.text += text + "\n";
      return last;
    },
    async finish() {
      await last;
      await writer.ready;
      writer.releaseLock();
    },
  };
}
