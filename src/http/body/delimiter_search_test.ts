import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../test_random.ts";
import { createDelimiterSearch, useByteSearch } from "./delimiter_search.ts";

const test = suite("http/delimiter_search");
const encoder = new TextEncoder();

/** The first position of `needle`, or -1, by comparing at each position. */
function naiveSearch(bytes: Uint8Array, needle: Uint8Array, from: number, end: number): number {
  for (let at = from; at + needle.length <= end; at++) {
    if (needle.every((byte, i) => bytes[at + i] === byte)) return at;
  }
  return -1;
}

function assertAsNaive(): void {
  const random = createRandom(1);
  for (const boundary of ["b", "bb", "--", "ab", "abab", "b-b-b"]) {
    const needle = encoder.encode(`\r\n--${boundary}`);
    const find = createDelimiterSearch(needle);
    let found = 0;
    for (let round = 0; round < 2000; round++) {
      const letters = encoder.encode("\r\r\n-ab");
      const bytes = Uint8Array.from({ length: 40 }, () => letters[random(letters.length)]!);
      if (round % 2) bytes.set(needle, random(40 - needle.length));
      const from = random(20);
      const end = from + random(41 - from);
      const expected = naiveSearch(bytes, needle, from, end);
      const at = find(bytes, from, end);
      if (expected >= 0) {
        found++;
        assert.is(at, expected);
      } else {
        assert.ok(at < 0, "not found");
        const next = -1 - at;
        assert.ok(next >= from && next <= end, "the next start is in range");
        // No delimiter may begin before the next start, whatever follows.
        for (let start = from; start < next; start++) {
          assert.not.ok(
            bytes.subarray(start, end).every((byte, i) => i >= needle.length || byte === needle[i]),
            "a delimiter could begin before the next start",
          );
        }
      }
    }
    assert.ok(found > 100, "the delimiter occurs");
  }
}

test("the search finds the position that a naive search finds, for any start and end", assertAsNaive);

test("so does one that uses a function of the runtime", () => {
  let used = 0;
  useByteSearch((bytes, needle) => {
    used++;
    return naiveSearch(bytes, needle, 0, bytes.length);
  });
  try {
    assertAsNaive();
  } finally {
    useByteSearch(undefined);
  }
  assert.ok(used > 0);
});

test("the longest delimiter is found at the end, and not before its last byte", () => {
  const needle = encoder.encode("\r\n--" + "x".repeat(70));
  const find = createDelimiterSearch(needle);
  const bytes = new Uint8Array(10_000).fill(120);
  bytes.set(needle, 10_000 - needle.length);
  assert.is(find(bytes, 0, 10_000), 10_000 - needle.length);
  assert.ok(find(bytes, 0, 9_999) < 0);
});

test.run();
