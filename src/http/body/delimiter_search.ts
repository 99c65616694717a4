/**
 * Finds a delimiter that begins with CR, and has no other CR, in bytes that arrive in chunks. Horspool's search (Practical
 * Fast Searching in Strings, 1980) looks at about one byte in `needle.length`. It is linear for hostile input too: a
 * comparison starts only at a CR and ends before the next one. A runtime entry can replace it (`runtime/upload/`).
 *
 * @module
 */

const CR = 13;

export interface DelimiterSearch {
  /**
   * The position of the delimiter in `bytes` between `from` and `end`. If there is none, the negative number `-1 - at`: no
   * delimiter begins before `at`, so the search continues there when more bytes have arrived.
   */
  (bytes: Uint8Array, from: number, end: number): number;
}

/** The first position of `needle` in `bytes`, or -1, in linear time for a needle whose only CR is its first byte. */
export type ByteSearch = (bytes: Uint8Array, needle: Uint8Array) => number;

let native: ByteSearch | undefined;

/** Searches by a function of the runtime from now on, or with `undefined` by portable code. */
export function useByteSearch(search: ByteSearch | undefined): void {
  native = search;
}

/** @param needle at most 255 bytes, of which only the first is CR */
export function createDelimiterSearch(needle: Uint8Array): DelimiterSearch {
  return native ? createNativeSearch(needle, native) : createPortableSearch(needle);
}

function createNativeSearch(needle: Uint8Array, search: ByteSearch): DelimiterSearch {
  return (bytes, from, end) => {
    const found = search(bytes.subarray(from, end), needle);
    return found >= 0 ? from + found : -1 - Math.max(from, end - needle.length + 1);
  };
}

function createPortableSearch(needle: Uint8Array): DelimiterSearch {
  const length = needle.length;
  const last = length - 1;
  /** By the byte at the position of the delimiter's last byte: how far to advance. */
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
