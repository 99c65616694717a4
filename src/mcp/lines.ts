/**
 * Streams of bytes as lines of text, for stdio: in both directions, with room for slow readers.
 *
 * @module
 */

/** Characters of one line. */
const LONGEST = 4 * 1024 * 1024;

/** Lines that are not blank; `undefined` stands for one that was too long and was passed over. */
export async function* readLines(input: ReadableStream<Uint8Array>): AsyncGenerator<string | undefined> {
  // Deno and workerd take U+FEFF for a byte order mark where any chunk begins, and drop it.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const reader = input.getReader();
  let rest = "";
  let skipping = false;
  for (;;) {
    const { done, value } = await reader.read();
    const parts = (done ? decoder.decode() : decoder.decode(value, { stream: true })).split("\n");
    for (const [i, part] of parts.entries()) {
      rest += part;
      const ended = i < parts.length - 1 || done;
      if (rest.length > LONGEST) {
        if (!skipping) yield undefined;
        skipping = true;
        rest = "";
      }
      if (!ended) continue;
      // RFC 8259 §8.1: a mark may be passed over.
      if (!skipping && rest.trim() !== "") yield rest.startsWith("\ufeff") ? rest.slice(1) : rest;
      rest = "";
      skipping = false;
    }
    if (done) return;
  }
}

/** Writes lines. `write` resolves when there is room for another; `finish` when all are written. */
export function writeLines(
  output: WritableStream<Uint8Array>,
): { write: (text: string) => Promise<void>; finish: () => Promise<void> } {
  const writer = output.getWriter();
  const encoder = new TextEncoder();
  return {
    async write(text) {
      await writer.ready;
      await writer.write(encoder.encode(text + "\n"));
    },
    async finish() {
      await writer.ready;
      writer.releaseLock();
    },
  };
}
