/**
 * Bytes that arrive in chunks, in one growing buffer. A list of chunks would cost some 200 bytes for each chunk, however
 * small: 45 times a body that is sent a byte at a time.
 *
 * @module
 */

/** Bytes of the first allocation, unless the caller knows how many will come. */
const MIN_CAPACITY = 1024;

/**
 * A queue of bytes: append at the end, look at them, discard at the start. It copies what it is given and keeps no chunk.
 * All operations together take time linear in the bytes appended, and the memory is at most twice the most bytes that were
 * held at once. It sets no limit: check one before you append.
 *
 * @example Lines: look only at what is new, then discard what was read.
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

  /** @param expected how many bytes will come, where that is known: the buffer then need not grow */
  constructor(expected = 0) {
    this.#bytes = new Uint8Array(expected);
  }

  /** How many bytes are held. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** How many bytes are allocated. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** Copies the chunk behind the others. */
  append(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#bytes.length) this.#makeRoom(chunk.length);
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The bytes from position `from` to before `to`, valid until the next `append()`, `discard()` or `take()`. */
  view(from = 0, to: number = this.length): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#start + from, this.#start + Math.min(to, this.length));
  }

  /** Drops bytes at the start: all, when `count` is more than there are. */
  discard(count: number): void {
    this.#start += Math.min(count, this.length);
    if (this.#start === this.#end) this.#start = this.#end = 0;
  }

  /** Gives all bytes away, in an array that has its memory for itself. The buffer is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const { length } = this;
    if (this.#start > 0) this.#bytes.copyWithin(0, this.#start, this.#end);
    const buffer = this.#bytes.buffer;
    const taken = new Uint8Array(length === buffer.byteLength ? buffer : buffer.transfer(length));
    this.#bytes = new Uint8Array();
    this.#start = this.#end = 0;
    return taken;
  }

  #makeRoom(more: number): void {
    const { length } = this;
    // Moving is worth it only when at least half of the room is free: else a queue that stays full moves with every chunk.
    if (2 * (length + more) <= this.#bytes.length) {
      this.#bytes.copyWithin(0, this.#start, this.#end);
    } else {
      const capacity = Math.max(MIN_CAPACITY, 2 * length, length + more);
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

/** All chunks as one array. */
export async function collectBytes(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new ByteBuffer();
  for await (const chunk of chunks) buffer.append(chunk);
  return buffer.take();
}

/** Chunks as one array of `length` bytes. */
export function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
