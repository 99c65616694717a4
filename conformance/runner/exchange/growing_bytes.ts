/**
 * A buffer for bytes that arrive in chunks. A list of many small chunks would use several times the memory.
 *
 * @module
 */

export class GrowingBytes {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Appends a copy of the chunk. */
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

  /** Returns all bytes and empties the buffer. */
  take(): Uint8Array<ArrayBuffer> {
    const all = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array();
    this.#length = 0;
    return all;
  }
}
