/**
 * Keys as strings whose order is the keys' order, for drivers whose engine compares text or bytes.
 * A part is a tag ("0" number, "1" string), its text, and U+0001; the two lowest code points inside a
 * string are escaped, so that no part can end early.
 *
 * @module
 */
import type { Key } from "./store.ts";

const END = "\u0001";

/** The key as text. Compared by UTF-8 bytes (or code points) it orders as {@linkcode Key} says. */
export function encodeKey(key: Key): string {
  let text = "";
  for (const part of key) {
    text += typeof part === "number" ? "0" + encodeNumber(part) + END : "1" + escape(part) + END;
  }
  return text;
}

/** The key that {@linkcode encodeKey} made this text of. */
export function decodeKey(text: string): Key {
  const key: (string | number)[] = [];
  for (let at = 0; at < text.length;) {
    const end = text.indexOf(END, at);
    const part = text.slice(at + 1, end);
    key.push(text[at] === "0" ? decodeNumber(part) : unescape(part));
    at = end + 1;
  }
  return key;
}

/** Below every key under `prefix`, and above them all: an exclusive range of encoded keys. */
export function prefixRange(prefix: Key): { low: string; high: string } {
  const low = encodeKey(prefix);
  return { low, high: low + "2" };
}

/** Code point order, which is also the order of UTF-8 bytes; JavaScript's own order is by code unit. */
export function compareEncoded(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // A surrogate stands for a code point above U+FFFF, so it orders after every other code unit.
    const xSurrogate = x >= 0xd800 && x <= 0xdfff;
    const ySurrogate = y >= 0xd800 && y <= 0xdfff;
    if (xSurrogate !== ySurrogate) return xSurrogate ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

// deno-lint-ignore no-control-regex
const LOW = /[\u0000-\u0002]/g;
// deno-lint-ignore no-control-regex
const ESCAPED = /\u0002([345])/g;

function escape(text: string): string {
  return text.search(LOW) < 0 ? text : text.replace(LOW, (c) => "\u0002" + (c.charCodeAt(0) + 3));
}

function unescape(text: string): string {
  return text.includes("\u0002") ? text.replace(ESCAPED, (_, n) => String.fromCharCode(Number(n) - 3)) : text;
}

const view = new DataView(new ArrayBuffer(8));

// IEEE 754 bits order like the numbers once the sign bit is flipped (all bits, for negatives).
function encodeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError("A number in a key must be finite");
  view.setFloat64(0, value === 0 ? 0 : value);
  const bits = view.getBigUint64(0);
  const ordered = value < 0 ? ~bits & 0xffffffffffffffffn : bits | 0x8000000000000000n;
  return ordered.toString(16).padStart(16, "0");
}

function decodeNumber(text: string): number {
  const ordered = BigInt("0x" + text);
  const bits = ordered & 0x8000000000000000n ? ordered & 0x7fffffffffffffffn : ~ordered & 0xffffffffffffffffn;
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}
