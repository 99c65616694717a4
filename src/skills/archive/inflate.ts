/**
 * Unpacks deflated data of a known length (https://www.rfc-editor.org/rfc/rfc1951) into a given buffer, and never writes
 * beyond it. The platform's `DecompressionStream` has no such limit everywhere: Deno 2.9 unpacks 0.4 MB to one chunk of
 * 400 MB before its first read returns, without a turn of the event loop, and accepts data that is cut off.
 *
 * @module
 */
import { WorkSlice } from "../../http/work_slice.ts";
import { InflateError } from "./inflate_error.ts";
import { createHuffmanCode, decodeLong, type HuffmanCode, TABLE_BITS } from "./huffman_code.ts";

/** Bytes to unpack, and blocks to read, between checks of the time slice. */
const STEP_BYTES = 128 * 1024;
const STEP_BLOCKS = 64;
/**
 * Limit for blocks with dynamic Huffman codes: a base, and one more for each number of bytes, packed and unpacked. Packers
 * write few, because each costs some 60 bytes. A stream of only such blocks takes 2 seconds of CPU a megabyte.
 */
const FREE_CODE_BLOCKS = 16;
const BYTES_PER_CODE_BLOCK = 512;
const END = 256;
const TABLE_MASK = (1 << TABLE_BITS) - 1;
/** For symbols from 257: the base length and the number of extra bits (RFC 1951 §3.2.5). */
const LENGTH_BITS = Uint8Array.from({ length: 29 }, (_, i) => i < 8 || i === 28 ? 0 : (i >> 2) - 1);
const LENGTHS = firstOf(LENGTH_BITS, 3);
LENGTHS[28] = 258;
const DISTANCE_BITS = Uint8Array.from({ length: 30 }, (_, i) => i < 4 ? 0 : (i >> 1) - 1);
const DISTANCES = firstOf(DISTANCE_BITS, 1);
/** The order of the code length code's lengths (§3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
let fixed: readonly [HuffmanCode, HuffmanCode] | undefined;

/** The fixed Huffman codes (§3.2.6). */
function fixedCodes(): readonly [HuffmanCode, HuffmanCode] {
  return fixed ??= [
    createHuffmanCode(
      Uint8Array.from({ length: 288 }, (_, i) => i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8),
    )!,
    createHuffmanCode(new Uint8Array(32).fill(5))!,
  ];
}

/**
 * Unpacks `packed` into `bytes`, in time slices.
 * @throws {InflateError} when it is damaged, has data after its end, or does not fill `bytes` exactly
 */
export async function inflate(
  packed: Uint8Array,
  bytes: Uint8Array,
  slice: WorkSlice = new WorkSlice(),
): Promise<void> {
  const bits = new Bits(packed);
  let length = 0;
  let codesLeft = FREE_CODE_BLOCKS + (packed.length + bytes.length) / BYTES_PER_CODE_BLOCK;
  let nextLook = STEP_BYTES;
  let blocks = 0;
  for (let isLast = false; !isLast;) {
    isLast = bits.take(1) === 1;
    const kind = bits.take(2);
    if (kind === 0) length = copyStored(bits, bytes, length);
    else if (kind === 3) throw new InflateError("damaged");
    else {
      if (kind === 2 && --codesLeft < 0) throw new InflateError("costly");
      const [literals, distances] = kind === 1 ? fixedCodes() : readCodes(bits);
      do {
        length = unpackBlock(bits, literals, distances, bytes, length);
        if (bits.isInBlock && slice.isOver) await slice.yield();
      } while (bits.isInBlock);
    }
    if (length < nextLook && ++blocks % STEP_BLOCKS !== 0) continue;
    nextLook = length + STEP_BYTES;
    if (slice.isOver) await slice.yield();
  }
  if (!bits.isAtEnd()) throw new InflateError("damaged");
  if (length < bytes.length) throw new InflateError("shorter");
}

/** Reads the packed data bit by bit, from the lowest. */
class Bits {
  readonly bytes: Uint8Array;
  /** Index of the next byte; up to four beyond the end, which read as zeros. */
  at = 0;
  /** Unused bits that were read, and their number. */
  held = 0;
  count = 0;
  /** Whether the current block continues. */
  isInBlock = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Reads until at least 25 bits are held. */
  fill(): void {
    while (this.count < 25) {
      if (this.at >= this.bytes.length + 4) throw new InflateError("damaged");
      this.held |= (this.bytes[this.at++] ?? 0) << this.count;
      this.count += 8;
    }
  }

  /** At most 16 bits as a number. */
  take(size: number): number {
    this.fill();
    const value = this.held & (1 << size) - 1;
    this.held >>>= size;
    this.count -= size;
    return value;
  }

  /** The next symbol of a code. */
  decode(code: HuffmanCode): number {
    this.fill();
    const found = code.table[this.held & TABLE_MASK]! || decodeLong(code, this.held);
    if (found === 0) throw new InflateError("damaged");
    this.held >>>= found & 15;
    this.count -= found & 15;
    return found >>> 4;
  }

  /** Moves to the next byte boundary and returns the bytes that were read beyond it. */
  align(): void {
    this.at -= this.count >>> 3;
    this.held = 0;
    this.count = 0;
    if (this.at > this.bytes.length) throw new InflateError("damaged");
  }

  isAtEnd(): boolean {
    this.align();
    return this.at === this.bytes.length;
  }
}

function copyStored(bits: Bits, bytes: Uint8Array, length: number): number {
  bits.align();
  const size = bits.take(16);
  if (bits.take(16) !== (size ^ 0xffff)) throw new InflateError("damaged");
  bits.align();
  const to = bits.at + size;
  if (to > bits.bytes.length) throw new InflateError("damaged");
  if (length + size > bytes.length) throw new InflateError("longer");
  bytes.set(bits.bytes.subarray(bits.at, to), length);
  bits.at = to;
  return length + size;
}

/** The dynamic codes of a block: literals and lengths, and distances. */
function readCodes(bits: Bits): [HuffmanCode, HuffmanCode] {
  const literalCount = bits.take(5) + 257;
  const distanceCount = bits.take(5) + 1;
  const lengthCount = bits.take(4) + 4;
  const ofLengths = new Uint8Array(19);
  for (let i = 0; i < lengthCount; i++) ofLengths[ORDER[i]!] = bits.take(3);
  const code = createHuffmanCode(ofLengths);
  if (!code || literalCount > 286 || distanceCount > 30) throw new InflateError("damaged");
  const lengths = new Uint8Array(literalCount + distanceCount);
  for (let i = 0; i < lengths.length;) {
    const symbol = bits.decode(code);
    if (symbol < 16) {
      lengths[i++] = symbol;
      continue;
    }
    if (symbol === 16 && i === 0) throw new InflateError("damaged");
    const value = symbol === 16 ? lengths[i - 1]! : 0;
    const to = i + (symbol === 16 ? 3 + bits.take(2) : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7));
    if (to > lengths.length) throw new InflateError("damaged");
    lengths.fill(value, i, to);
    i = to;
  }
  const literals = createHuffmanCode(lengths.subarray(0, literalCount));
  const distances = createHuffmanCode(lengths.subarray(literalCount));
  // A block must be able to end.
  if (!literals || !distances || lengths[END] === 0) throw new InflateError("damaged");
  return [literals, distances];
}

/**
 * Unpacks a block, or some of a long one, behind the first `length` bytes; how many there are then. Nearly all the time goes here, so bits are
 * kept in variables: twice as quick as in an object.
 */
function unpackBlock(
  bits: Bits,
  literals: HuffmanCode,
  distances: HuffmanCode,
  bytes: Uint8Array,
  length: number,
): number {
  const { bytes: packed } = bits;
  const { table } = literals;
  const { table: distanceTable } = distances;
  const size = bytes.length;
  const most = packed.length + 4;
  const pause = length + STEP_BYTES;
  let { at, held, count } = bits;
  bits.isInBlock = true;
  while (length < pause) {
    while (count < 25) {
      if (at >= most) throw new InflateError("damaged");
      held |= (at < packed.length ? packed[at]! : 0) << count;
      at++;
      count += 8;
    }
    const found = table[held & TABLE_MASK]! || decodeLong(literals, held);
    const symbol = found >>> 4;
    held >>>= found & 15;
    count -= found & 15;
    if (symbol < END) {
      if (found === 0) throw new InflateError("damaged");
      if (length === size) throw new InflateError("longer");
      bytes[length++] = symbol;
      continue;
    }
    if (symbol === END) {
      bits.isInBlock = false;
      break;
    }
    const kind = symbol - 257;
    if (kind > 28) throw new InflateError("damaged");
    const more = LENGTH_BITS[kind]!;
    const to = length + LENGTHS[kind]! + (held & (1 << more) - 1);
    held >>>= more;
    count -= more;
    while (count < 25) {
      if (at >= most) throw new InflateError("damaged");
      held |= (at < packed.length ? packed[at]! : 0) << count;
      at++;
      count += 8;
    }
    const foundDistance = distanceTable[held & TABLE_MASK]! || decodeLong(distances, held);
    const distanceKind = foundDistance >>> 4;
    if (foundDistance === 0 || distanceKind > 29) throw new InflateError("damaged");
    held >>>= foundDistance & 15;
    count -= foundDistance & 15;
    // A long code word and its extra bits are 28 bits together.
    const farther = DISTANCE_BITS[distanceKind]!;
    while (count < farther) {
      if (at >= most) throw new InflateError("damaged");
      held |= (at < packed.length ? packed[at]! : 0) << count;
      at++;
      count += 8;
    }
    const from = length - DISTANCES[distanceKind]! - (held & (1 << farther) - 1);
    held >>>= farther;
    count -= farther;
    if (from < 0) throw new InflateError("damaged");
    if (to > size) throw new InflateError("longer");
    // Byte by byte: source and target may overlap.
    for (let source = from; length < to; length++) bytes[length] = bytes[source++]!;
  }
  bits.at = at;
  bits.held = held;
  bits.count = count;
  return length;
}

/** The first of each range, when range n has 2 to the power of `bits[n]` members. */
function firstOf(bits: Uint8Array, start: number): Uint16Array {
  const first = new Uint16Array(bits.length);
  for (let i = 0, next = start; i < bits.length; i++) {
    first[i] = next;
    next += 1 << bits[i]!;
  }
  return first;
}
