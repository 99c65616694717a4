import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "./base64url.ts";
import { toHex } from "./hex.ts";
import { createSha256, hmacSha256, sha256, sha256After } from "./sha256.ts";

const test = suite("crypto/sha256");

test("sha256() of the examples of FIPS 180-4", () => {
  assert.is(toHex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.is(toHex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("sha256() equals Web Crypto's at every length around the block borders", async () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = crypto.getRandomValues(new Uint8Array(length));
    const expected = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    assert.is(encodeBase64url(sha256(bytes)), encodeBase64url(expected), `length ${length}`);
  }
});

test("sha256() of text is that of its UTF-8 bytes", () => {
  assert.equal(sha256("ü𝄞"), sha256(new TextEncoder().encode("ü𝄞")));
});

test("sha256() and sha256After() of text equal those of its bytes, at every length around the block borders", () => {
  const block = crypto.getRandomValues(new Uint8Array(64));
  const after = sha256After(block);
  for (let length = 0; length <= 200; length++) {
    for (const text of ["x".repeat(length), "x".repeat(length) + "ü", "ü" + "x".repeat(length)]) {
      const bytes = new TextEncoder().encode(text);
      assert.is(toHex(sha256(text)), toHex(sha256(bytes)), text);
      assert.is(toHex(after(text)), toHex(sha256(Uint8Array.of(...block, ...bytes))), text);
    }
  }
});

test("createSha256() of bytes in pieces is that of the whole, wherever they are cut", async () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 127, 128, 129, 1000]) {
    const bytes = crypto.getRandomValues(new Uint8Array(length));
    const expected = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
    for (const size of [1, 3, 63, 64, 65, 200]) {
      const hash = createSha256();
      for (let at = 0; at < length; at += size) hash.update(bytes.subarray(at, at + size));
      assert.is(toHex(hash.digest()), expected, `${length} bytes by ${size}`);
    }
  }
});

test("two digests that are made at one time, and one in between, do not disturb each other", () => {
  const bytes = new Uint8Array(300).map((_, i) => i);
  const one = createSha256();
  const two = createSha256();
  one.update(bytes.subarray(0, 100));
  two.update(bytes.subarray(0, 70));
  sha256("in between");
  two.update(bytes.subarray(70));
  one.update(bytes.subarray(100));
  assert.is(toHex(one.digest()), toHex(sha256(bytes)));
  assert.is(toHex(two.digest()), toHex(sha256(bytes)));
});

test("hmacSha256() equals Web Crypto's for short and long keys", async () => {
  for (const length of [1, 32, 64, 65, 200]) {
    const secret = crypto.getRandomValues(new Uint8Array(length));
    const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
      "sign",
    ]);
    const data = new TextEncoder().encode("what is signed");
    const expected = new Uint8Array(await crypto.subtle.sign("HMAC", key, data));
    assert.equal(hmacSha256(secret, "what is signed"), expected, `key length ${length}`);
  }
});

test("hmacSha256() of text and of its bytes equals Web Crypto's, at every length around the block borders", async () => {
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"]);
  for (let length = 0; length <= 200; length++) {
    for (const text of ["x".repeat(length), "x".repeat(length) + "ü"]) {
      const bytes = new TextEncoder().encode(text);
      const expected = toHex(new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes)));
      assert.is(toHex(hmacSha256(secret, text)), expected, text);
      assert.is(toHex(hmacSha256(secret, bytes)), expected, text);
    }
  }
});

test("hmacSha256() takes a text as key: its bytes in UTF-8", () => {
  for (const key of ["a", "k".repeat(64), "k".repeat(65), "k".repeat(600), "schlüssel", "ü".repeat(60)]) {
    const bytes = new TextEncoder().encode(key);
    assert.equal(hmacSha256(key, "what is signed"), hmacSha256(bytes, "what is signed"), key);
  }
});

test.run();
