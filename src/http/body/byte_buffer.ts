/**
 * Collects bytes that arrive in chunks in one growing buffer. A list of chunks would cost about 200 bytes for each chunk,
 * however small: a body that is sent byte by byte would take 45 times its size.
 *
 * @module
 */

/** The first allocation, unless the caller knows the size. */
const MIN_CAPACITY_BYTES = 1024;

/**
 * A queue of bytes: append at the end, view, discard at the start. It copies each chunk. All operations together take time
 * linear in the bytes appended; the memory is at most twice the largest number of bytes held at once. It has no limit of
 * its own: check the length before you append.
 *
 * @example Read a line, then discard it.
 * ```ts
 * import { ByteBuffer } from "./byte_buffer.ts";
 * const buffer = new ByteBuffer();
 * buffer.append(new TextEncoder().encode("a\nb"));
 * const end = buffer.view().indexOf(10);
 * const line = new TextDecoder().decode(buffer.view(0, end)); // "a"
 * buffer.discard(end + 1);
 * ```
 */
export class ByteBuffer {
  #bytes: Uint8Array<ArrayBuffer>;
  #start = 0;
  #end = 0;

  /** @param expected the number of bytes to come, if known: the buffer then never grows */
  constructor(expected = 0) {
    this.#bytes = new Uint8Array(expected);
  }

  /** The number of bytes held. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** The number of bytes allocated. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** Copies the chunk to the end. */
  append(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#bytes.length) this.#grow(chunk.length);
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The bytes from position `from` to before `to`, valid until the next `append()`, `discard()` or `take()`. */
  view(from = 0, to: number = this.length): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#start + from, this.#start + Math.min(to, this.length));
  }

  /** Drops `count` bytes at the start, or all if there are fewer. */
  discard(count: number): void {
    this.#start += Math.min(count, this.length);
    if (this.#start === this.#end) this.#start = this.#end = 0;
  }

  /** Returns all bytes in an array with a buffer of its own, and empties this buffer. */
  take(): Uint8Array<ArrayBuffer> {
    const { length } = this;
    if (this.#start > 0) this.#bytes.copyWithin(0, this.#start, this.#end);
    const buffer = this.#bytes.buffer;
    const taken = new Uint8Array(length === buffer.byteLength ? buffer : buffer.transfer(length));
    this.#bytes = new Uint8Array();
    this.#start = this.#end = 0;
    return taken;
  }

  #grow(more: number): void {
    const { length } = this;
    // Move only if at least half of the capacity is free: otherwise a queue that stays full would move with every chunk.
    if (2 * (length + more) <= this.#bytes.length) {
      this.#bytes.copyWithin(0, this.#start, this.#end);
    } else {
      const capacity = Math.max(MIN_CAPACITY_BYTES, 2 * length, length + more);
      if (this.#start === 0) {
        this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(capacity));
      } else {
        const larger = new Uint8Array(capacity);
        larger.set(this.view());
        this.#bytes = larger;
      }
    }
    this.#start = 0;
    this.#end = length;
  }
}

/** Joins all chunks of a stream. */
export async function collectBytes(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new ByteBuffer();
  for await (const chunk of chunks) buffer.append(chunk);
  return buffer.take();
}

/** Joins chunks that have `length` bytes together. */
export function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
