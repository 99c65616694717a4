import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodeBase64url, encodeBase64url, encodeTextBase64url } from "./base64url.ts";

const test = suite("crypto/base64url");

test("encodeBase64url() of the examples of RFC 4648 section 10, without padding", () => {
  const encode = (text: string) => encodeBase64url(new TextEncoder().encode(text));
  assert.equal(["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(encode), [
    "",
    "Zg",
    "Zm8",
    "Zm9v",
    "Zm9vYg",
    "Zm9vYmE",
    "Zm9vYmFy",
  ]);
  assert.is(encodeBase64url(Uint8Array.of(0xfb, 0xff)), "-_8");
});

test("decodeBase64url() undoes encodeBase64url()", () => {
  for (let length = 0; length < 70; length++) {
    const bytes = crypto.getRandomValues(new Uint8Array(length));
    assert.equal(decodeBase64url(encodeBase64url(bytes)), bytes);
  }
});

for (const text of ["Zg==", "Zh", "Z", "Zm9vY", "Zm+v", "Zm/v", "Zm9v\n", "Zm 9v", "Zmü"]) {
  test(`decodeBase64url() refuses ${JSON.stringify(text)}: one value has one spelling`, () => {
    assert.is(decodeBase64url(text), undefined);
  });
}

test("text is encoded as its UTF-8 bytes, in every length", () => {
  for (
    const text of [
      "",
      "f",
      "fo",
      "foo",
      "~~~",
      "???",
      '["id",1,{}]',
      "Zürich",
      "日本",
      "\u0000\u007f\u0080",
      "\ud800",
    ]
  ) {
    const bytes = new TextEncoder().encode(text);
    assert.is(encodeTextBase64url(text), encodeBase64url(bytes), text);
    assert.equal(decodeBase64url(encodeTextBase64url(text)), bytes);
  }
});

test.run();
