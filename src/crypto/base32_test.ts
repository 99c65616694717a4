import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fromBase32, toBase32 } from "./base32.ts";

const test = suite("crypto/base32");
/** RFC 4648 section 10, without padding. */
const VECTORS: readonly (readonly [string, string])[] = [
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
];

for (const [text, encoded] of VECTORS) {
  test(`"${text}" (RFC 4648 section 10)`, () => {
    const bytes = new TextEncoder().encode(text);
    assert.is(toBase32(bytes), encoded);
    assert.equal(fromBase32(encoded), bytes);
    assert.equal(fromBase32(encoded.toLowerCase()), bytes);
  });
}

test("all bytes come back", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  assert.equal(fromBase32(toBase32(bytes)), bytes);
});

test("other characters are refused", () => {
  for (const text of ["0", "1", "8", "A=", "A B", "é"]) assert.is(fromBase32(text), undefined);
});

test.run();
