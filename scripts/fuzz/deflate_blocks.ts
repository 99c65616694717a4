/**
 * Deflate data (RFC 1951) of empty blocks with dynamic Huffman tables: for each block the reader builds two tables and gets
 * no byte.
 *
 * @module
 */

/** The order of code lengths (RFC 1951 section 3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1];

class BitWriter {
  readonly bytes: number[] = [];
  #pending = 0;
  #count = 0;

  put(value: number, bits: number): void {
    for (let i = 0; i < bits; i++) {
      this.#pending |= ((value >> i) & 1) << this.#count;
      if (++this.#count === 8) this.flush();
    }
  }

  flush(): void {
    if (this.#count === 0) return;
    this.bytes.push(this.#pending);
    this.#pending = this.#count = 0;
  }
}

function writeBlock(writer: BitWriter, isLast: boolean): void {
  writer.put(isLast ? 1 : 0, 1);
  writer.put(2, 2);
  writer.put(0, 5);
  writer.put(0, 5);
  writer.put(ORDER.length - 4, 4);
  // Two codes of one bit: "code length 1" and "repeat code length 0".
  for (const symbol of ORDER) writer.put(symbol === 18 || symbol === 1 ? 1 : 0, 3);
  // 256 code lengths 0, the code of the end of the block, one distance code, and the end of the block.
  writer.put(1, 1);
  writer.put(138 - 11, 7);
  writer.put(1, 1);
  writer.put(118 - 11, 7);
  writer.put(0, 1);
  writer.put(0, 1);
  writer.put(0, 1);
}

/** @param size in bytes, approximate */
export function createEmptyDeflateBlocks(size: number): Uint8Array<ArrayBuffer> {
  // Eight blocks end at a byte boundary.
  const eight = new BitWriter();
  for (let i = 0; i < 8; i++) writeBlock(eight, false);
  const last = new BitWriter();
  writeBlock(last, true);
  last.flush();
  const times = Math.max(1, Math.floor(size / eight.bytes.length));
  const whole = new Uint8Array(times * eight.bytes.length + last.bytes.length);
  for (let i = 0; i < times; i++) whole.set(eight.bytes, i * eight.bytes.length);
  whole.set(last.bytes, times * eight.bytes.length);
  return whole;
}
