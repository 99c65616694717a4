/**
 * Deflated data of a known length (https://www.rfc-editor.org/rfc/rfc1951), unpacked straight into its place: more is
 * never unpacked, and nothing is held twice.
 *
 * @module
 */

/** What is given to the decompressor at one time: it may copy it. */
const PIECE = 64 * 1024;

/** Why data could not be unpacked. */
export type InflateFault = "damaged" | "longer" | "shorter";

export class InflateError extends Error {
  override readonly name = "InflateError";
  readonly fault: InflateFault;

  constructor(fault: InflateFault, options?: ErrorOptions) {
    super(`The deflated data is ${fault}`, options);
    this.fault = fault;
  }
}

/**
 * Fills `bytes` with what `packed` unpacks to.
 * @throws {InflateError} when it is damaged, goes on behind its end, or unpacks to more or less
 */
export async function inflate(packed: Uint8Array, bytes: Uint8Array): Promise<void> {
  let at = 0;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      // Copied, since a stream may take the memory of what it is given.
      if (at < packed.length) controller.enqueue(packed.slice(at, at += PIECE));
      else controller.close();
    },
  });
  const reader = source.pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((cause) => {
      throw new InflateError("damaged", { cause });
    });
    if (done) break;
    if (length + value.length > bytes.length) {
      await reader.cancel().catch(() => {});
      throw new InflateError("longer");
    }
    bytes.set(value, length);
    length += value.length;
  }
  if (length < bytes.length) throw new InflateError("shorter");
}
