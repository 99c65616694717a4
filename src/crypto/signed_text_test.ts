import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "./server_secrets.ts";
import { readSignedText, signText } from "./signed_text.ts";

const test = suite("crypto/signed_text");
const key = soleSecret(new TextEncoder().encode("the key"));

test("what was signed is read with the same key for the same purpose", () => {
  assert.is(readSignedText(key, "p", signText(key, "p", "text ü.𝄞")), "text ü.𝄞");
  assert.is(readSignedText(key, "p", signText(key, "p", "")), "");
});

test("another key, another purpose and any changed character are refused", () => {
  const signed = signText(key, "p", "text");
  assert.is(readSignedText(soleSecret(new TextEncoder().encode("other")), "p", signed), undefined);
  assert.is(readSignedText(key, "q", signed), undefined);
  for (let i = 0; i < signed.length; i++) {
    const changed = signed.slice(0, i) + (signed[i] === "A" ? "B" : "A") + signed.slice(i + 1);
    assert.is(readSignedText(key, "p", changed), undefined, `character ${i}`);
  }
});

test("what was never signed is refused", () => {
  for (const text of ["", ".", "..", "A", "A.", ".A", "A.B.C", "ü.ü", "A".repeat(10_000)]) {
    assert.is(readSignedText(key, "p", text), undefined, text.slice(0, 10));
  }
});

test.run();
