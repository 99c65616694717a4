/**
 * Finding a delimiter that begins with CR and has no other, in bytes that arrive piece by piece: Horspool's search
 * (Practical Fast Searching in Strings, 1980), which looks at one byte in as many as the delimiter is long. It stays
 * linear, however hostile the bytes are: a comparison runs on only behind a CR, and stops before the next.
 *
 * @module
 */

const CR = 13;

export interface DelimiterSearch {
  /**
   * Where the delimiter begins in `bytes`, between `from` and `end`; or, as a negative number `-1 - at`, that none begins
   * before `at`: where to go on when there is more.
   */
  (bytes: Uint8Array, from: number, end: number): number;
}

/** @param needle of at most 255 bytes, the first of them CR */
export function createDelimiterSearch(needle: Uint8Array): DelimiterSearch {
  const length = needle.length;
  const last = length - 1;
  /** By the byte under the delimiter's end: how far no delimiter can begin. */
  const skip = new Uint8Array(256).fill(length);
  for (let i = 0; i < last; i++) skip[needle[i]!] = last - i;
  return (bytes, from, end) => {
    let at = from;
    while (at + length <= end) {
      if (bytes[at] === CR) {
        let same = 1;
        while (same < length && bytes[at + same] === needle[same]) same++;
        if (same === length) return at;
      }
      at += skip[bytes[at + last]!]!;
    }
    return -1 - at;
  };
}
