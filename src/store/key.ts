/**
 * Encodes keys as strings in the same order, for drivers whose engine compares text or bytes. A part of a key becomes a
 * tag ("0" number, "1" string), its text, and U+0001. In strings, the three lowest code points are escaped, so that no part
 * ends early, and those from U+D7FF on, so that the order of JavaScript (UTF-16 units) and of engines (UTF-8 bytes) is the
 * order of code points.
 *
 * @module
 */
import type { Key } from "./store.ts";

const END = "\u0001";
/** The encoding of `""`, and the tag of the string after it. */
const NO_KIND = `1${END}1`;

/** The key as text, in the order of {@linkcode Key}. Built by `join`, because concatenated strings keep their parts in memory. */
export function encodeKey(key: Key): string {
  const pieces: string[] = [];
  for (const part of key) {
    if (typeof part === "number") pieces.push("0", encodeNumber(part), END);
    else pieces.push("1", escape(part), END);
  }
  return pieces.join("");
}

/** The same as `encodeKey(["", name])`, but faster. */
export function encodeName(name: string): string {
  return [NO_KIND, escape(name), END].join("");
}

/** The inverse of {@linkcode encodeKey}. */
export function decodeKey(text: string): Key {
  const key: (string | number)[] = [];
  const isPlain = !text.includes("\u0002") && !text.includes("\ud7ff");
  for (let at = 0; at < text.length;) {
    const end = text.indexOf(END, at);
    const part = text.slice(at + 1, end);
    if (text.charCodeAt(at) === 48) key.push(decodeNumber(part));
    else key.push(isPlain ? part : unescape(part));
    at = end + 1;
  }
  return key;
}

/** The exclusive range of encoded keys that contains all keys below `prefix`. */
export function prefixRange(prefix: Key): { low: string; high: string } {
  const low = encodeKey(prefix);
  return { low, high: low + "2" };
}

/** The part of a prefix's range that follows `after` in the direction of the list. */
export function pageRange(
  prefix: Key,
  { after, reverse = false }: { readonly after?: Key | undefined; readonly reverse?: boolean | undefined },
): { low: string; high: string } {
  const { low, high } = prefixRange(prefix);
  if (!after) return { low, high };
  const from = encodeKey(after);
  // A key outside the prefix must not open the range to other records.
  if (reverse) return { low, high: from < high ? from : high };
  return { low: from > low ? from : low, high };
}

// deno-lint-ignore no-control-regex
const ESCAPE_ALL = /[\u0000-\u0002\ud7ff-\u{10ffff}]/gu;
// The same by UTF-16 units, which is faster to search.
// deno-lint-ignore no-control-regex
const ESCAPE = /[\u0000-\u0002\ud7ff-\uffff]/;
// deno-lint-ignore no-control-regex
const ESCAPED = /\u0002([345])|\ud7ff([0-9a-f]{6})/g;

function escape(text: string): string {
  if (!ESCAPE.test(text)) return text;
  return text.replace(ESCAPE_ALL, (character) => {
    const point = character.codePointAt(0)!;
    return point < 3 ? "\u0002" + (point + 3) : "\ud7ff" + point.toString(16).padStart(6, "0");
  });
}

function unescape(text: string): string {
  return text.replace(
    ESCAPED,
    (_, low?: string, high?: string) =>
      low ? String.fromCharCode(+low - 3) : String.fromCodePoint(parseInt(high!, 16)),
  );
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
