import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";

const test = suite("crypto/base64");
const encoder = new TextEncoder();

test("the examples of RFC 4648 section 10", () => {
  const texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
  const encoded = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
  assert.equal(texts.map((text) => encodeBase64(encoder.encode(text))), encoded);
  assert.equal(encoded.map((text) => new TextDecoder().decode(decodeBase64(text))), texts);
  assert.is(encodeBase64(Uint8Array.of(0xfb, 0xff)), "+/8=");
});

test("bytes of any length, and a view of a part of a buffer", () => {
  const bytes = crypto.getRandomValues(new Uint8Array(200));
  for (let length = 0; length < 70; length++) {
    const part = bytes.subarray(length, 2 * length);
    assert.is(encodeBase64(part), btoa(String.fromCharCode(...part)));
    assert.equal(decodeBase64(encodeBase64(part)), part.slice());
  }
});

test("text that is not base64 throws", () => {
  const invalid = [
    "Z",
    "Zm9v!",
    "=Zg=",
    "Zm9vYg===",
    "Zü==",
    "Zm9=Zm9v",
    "Zm-vZm9v",
    "Zm9vZ===",
    "ZmüvZm9v",
    "Zm9vZmü=",
  ];
  for (const text of invalid) assert.throws(() => decodeBase64(text), undefined, text);
});

test("white space and missing padding are accepted", () => {
  for (const text of ["Zm9v\r\nYmFy", "Zm9vYmFy    ", " Zm9vYmFy", "Zm9v\tYmFy\n\n", "Zm9v    "]) {
    assert.is(new TextDecoder().decode(decodeBase64(text)), atob(text), text);
  }
  assert.is(new TextDecoder().decode(decodeBase64("Zm9vYg")), "foob");
  assert.is(new TextDecoder().decode(decodeBase64("Zm9vYg  ")), "foob");
});

test("3 MB share the event loop", async () => {
  const bytes = new Uint8Array(3 * 1024 * 1024).fill(7);
  let text = "";
  await assertLoopIsFree(() => text = encodeBase64(bytes));
  await assertLoopIsFree(() => decodeBase64(text));
  assert.is(text.length, 4 * 1024 * 1024);
});

test.run();
