/**
 * A Huffman code of deflated data (https://www.rfc-editor.org/rfc/rfc1951#section-3.2.2), given by the lengths of its code
 * words: a table for short words, which are nearly all, and canonical decoding for long ones.
 *
 * @module
 */

/** Bits of the longest code word, and of the longest one in the table. */
const MAX_CODE_BITS = 15;
export const TABLE_BITS = 10;

export interface HuffmanCode {
  /** By the next {@linkcode TABLE_BITS} bits: the symbol times 16 plus the bits of its word; 0 for a longer one. */
  readonly table: Uint16Array;
  /** How many words there are of each length, and all symbols in the order of their words. */
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

/**
 * The code whose words have these lengths (0: unused symbol); `undefined` when the lengths are not a complete code.
 * An incomplete code is valid only with one word or none, as writers may omit unused symbols.
 */
export function createHuffmanCode(lengths: Uint8Array): HuffmanCode | undefined {
  const counts = new Uint16Array(MAX_CODE_BITS + 1);
  for (const length of lengths) counts[length]!++;
  const words = lengths.length - counts[0]!;
  counts[0] = 0;
  /** Unused code words of the current length. */
  let room = 1;
  const next = new Uint16Array(MAX_CODE_BITS + 2);
  const first = new Uint16Array(MAX_CODE_BITS + 2);
  for (let length = 1; length <= MAX_CODE_BITS; length++) {
    room = 2 * room - counts[length]!;
    if (room < 0) return undefined;
    next[length + 1] = next[length]! + counts[length]!;
    first[length + 1] = first[length]! + counts[length]! << 1;
  }
  if (room > 0 && words > 0 && !(words === 1 && counts[1] === 1)) return undefined;
  const symbols = new Uint16Array(words);
  const table = new Uint16Array(1 << TABLE_BITS);
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol]!;
    if (length === 0) continue;
    symbols[next[length]!++] = symbol;
    const word = first[length]!++;
    if (length > TABLE_BITS) continue;
    // Code words begin at the lowest bit: fill every entry that begins with this word.
    for (let bits = reverse(word, length); bits < table.length; bits += 1 << length) {
      table[bits] = symbol << 4 | length;
    }
  }
  return { table, counts, symbols };
}

/** The symbol times 16 plus the bits of its word, as the table has it, for a word of any length; 0 when there is none. */
export function decodeLong({ counts, symbols }: HuffmanCode, bits: number): number {
  let word = 0;
  let first = 0;
  let index = 0;
  for (let length = 1; length <= MAX_CODE_BITS; length++) {
    word |= bits & 1;
    bits >>>= 1;
    const count = counts[length]!;
    if (word - first < count) return symbols[index + word - first]! << 4 | length;
    index += count;
    first = first + count << 1;
    word <<= 1;
  }
  return 0;
}

function reverse(word: number, length: number): number {
  let reversed = 0;
  for (let i = 0; i < length; i++) reversed |= (word >>> i & 1) << length - 1 - i;
  return reversed;
}
