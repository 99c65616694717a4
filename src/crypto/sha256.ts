/**
 * Synchronous SHA-256 (FIPS 180-4 section 6.2) and HMAC (RFC 2104). Web Crypto cannot digest a stream in chunks, and for a
 * token `crypto.subtle.digest` takes 20 microseconds on Node, because it uses another thread; this takes one, and
 * `@noble/hashes` three times as long. Use Web Crypto for large data in memory.
 *
 * @module
 */

const BLOCK = 64;
/** The first 32 bits of the fractional parts of the cube roots (K) and square roots (H) of the primes. */
const K = new Int32Array(64);
const H = new Int32Array(8);
for (let candidate = 2, found = 0; found < 64; candidate++) {
  let prime = true;
  for (let i = 2; i * i <= candidate; i++) prime &&= candidate % i !== 0;
  if (!prime) continue;
  if (found < 8) H[found] = fraction(Math.sqrt(candidate));
  K[found++] = fraction(Math.cbrt(candidate));
}

function fraction(root: number): number {
  return (root - Math.floor(root)) * 2 ** 32 | 0;
}

const encoder = new TextEncoder();
// Working memory, used within one call only.
const w = new Int32Array(64);
const state = new Int32Array(8);
const tail = new Uint8Array(10 * BLOCK);
const tailView = new DataView(tail.buffer);

/** The digest, 32 bytes. */
export function sha256(data: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return digestAfter(H, 0, data);
}

/** The digest of `before` bytes, whose blocks led to the state `begun`, and the data. */
function digestAfter(begun: Int32Array, before: number, data: string | Uint8Array): Uint8Array<ArrayBuffer> {
  state.set(begun);
  if (typeof data === "string" && fillTail(data)) return endTail(before + data.length, data.length);
  const bytes = toBytes(data);
  const whole = bytes.length - bytes.length % BLOCK;
  for (let at = 0; at < whole; at += BLOCK) compress(bytes, at);
  return finish(bytes, whole, before + bytes.length);
}

/** Computes the digest of bytes that arrive in chunks. */
export interface Sha256 {
  update(bytes: Uint8Array): void;
  /** The digest, 32 bytes. Do not call `update()` afterwards. */
  digest(): Uint8Array<ArrayBuffer>;
}

/** For streams of any length, which Web Crypto cannot digest in chunks. */
export function createSha256(): Sha256 {
  const own = H.slice();
  const held = new Uint8Array(BLOCK);
  let length = 0;
  return {
    update(bytes) {
      const used = length % BLOCK;
      length += bytes.length;
      let at = 0;
      state.set(own);
      if (used > 0) {
        at = Math.min(BLOCK - used, bytes.length);
        held.set(bytes.subarray(0, at), used);
        if (used + at < BLOCK) return;
        compress(held, 0);
      }
      for (; at + BLOCK <= bytes.length; at += BLOCK) compress(bytes, at);
      held.set(bytes.subarray(at));
      own.set(state);
    },
    digest() {
      state.set(own);
      return finish(held, 0, length);
    },
  };
}

/** Compresses the last blocks: the rest of the message from `whole` on, and its length in bits. */
function finish(bytes: Uint8Array, whole: number, length: number): Uint8Array<ArrayBuffer> {
  const rest = length % BLOCK;
  for (let i = 0; i < rest; i++) tail[i] = bytes[whole + i]!;
  return endTail(length, rest);
}

/**
 * Digests of messages that begin with the same block of 64 bytes, which is compressed once.
 * @example
 * ```ts
 * import { sha256After } from "./sha256.ts";
 * const digest = sha256After(new Uint8Array(64));
 * console.log(digest("text").length); // 32
 * ```
 */
export function sha256After(block: Uint8Array): (text: string) => Uint8Array<ArrayBuffer> {
  state.set(H);
  compress(block, 0);
  const begun = state.slice();
  return (text) => digestAfter(begun, BLOCK, text);
}

/**
 * Copies a short ASCII text, such as a secret, into the last blocks; `false` for any other text. A call of the encoder would
 * cost as much as the digest.
 */
function fillTail(text: string): boolean {
  if (text.length > tail.length - BLOCK) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return false;
    tail[i] = code;
  }
  return true;
}

/** The digest of the compressed blocks and `rest` bytes in the tail, `length` bytes together. */
function endTail(length: number, rest: number): Uint8Array<ArrayBuffer> {
  // Whole blocks, with room for the bit after the message and its length.
  const end = rest + BLOCK + 8 & -BLOCK;
  tail[rest] = 0x80;
  tail.fill(0, rest + 1, end - 8);
  tailView.setUint32(end - 8, Math.floor(length / 2 ** 29));
  tailView.setUint32(end - 4, length << 3);
  for (let at = 0; at < end; at += BLOCK) compress(tail, at);
  const digest = new Uint8Array(32);
  for (let i = 0; i < 8; i++) {
    const word = state[i]!;
    digest[4 * i] = word >>> 24;
    digest[4 * i + 1] = word >>> 16;
    digest[4 * i + 2] = word >>> 8;
    digest[4 * i + 3] = word;
  }
  // The message may be a secret.
  tail.fill(0, 0, rest);
  return digest;
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? encoder.encode(data) : data;
}

/** HMAC-SHA-256, 32 bytes. */
export function hmacSha256(key: string | Uint8Array, data: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return createHmacSha256(key)(data);
}

/** HMAC-SHA-256 with one key, whose two blocks are compressed once. */
export function createHmacSha256(
  key: string | Uint8Array,
): (data: string | Uint8Array) => Uint8Array<ArrayBuffer> {
  const secret = toBytes(key);
  const short = secret.length > BLOCK ? sha256(secret) : secret;
  const inner = begin(short, 0x36);
  const outer = begin(short, 0x5c);
  return (data) => digestAfter(outer, BLOCK, digestAfter(inner, BLOCK, data));
}

/** The state after the block of an HMAC key. */
function begin(secret: Uint8Array, pad: number): Int32Array {
  const block = new Uint8Array(BLOCK).fill(pad);
  for (let i = 0; i < secret.length; i++) block[i]! ^= secret[i]!;
  state.set(H);
  compress(block, 0);
  return state.slice();
}

function compress(bytes: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 | bytes[at + 3]!;
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
    const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
    // Each partial sum is truncated to an integer; engines would compute a longer sum with doubles.
    w[i] = (w[i - 16]! + s0 | 0) + (w[i - 7]! + s1 | 0) | 0;
  }
  let a = state[0]!, b = state[1]!, c = state[2]!, d = state[3]!;
  let e = state[4]!, f = state[5]!, g = state[6]!, h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = ((h + s1 | 0) + (g ^ e & (f ^ g)) | 0) + (K[i]! + w[i]! | 0) | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const t2 = s0 + (a & b | c & (a | b)) | 0;
    h = g, g = f, f = e, e = d + t1 | 0;
    d = c, c = b, b = a, a = t1 + t2 | 0;
  }
  state[0]! += a, state[1]! += b, state[2]! += c, state[3]! += d;
  state[4]! += e, state[5]! += f, state[6]! += g, state[7]! += h;
}
