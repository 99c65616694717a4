/**
 * Bytes that arrive in chunks, in one buffer: a list of chunks would cost a multiple of what a server sends byte by byte.
 *
 * @module
 */

export class GrowingBytes {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Copies the chunk to the end. */
  add(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#bytes.length, 256));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = needed;
  }

  /** All of them. The buffer is empty afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const all = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array();
    this.#length = 0;
    return all;
  }
}
