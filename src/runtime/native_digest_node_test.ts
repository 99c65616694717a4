import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../crypto/base64url.ts";
import { secretDigest } from "../crypto/secret.ts";
import { sha256 } from "../crypto/sha256.ts";
import "./native_digest.ts";

const test = suite("runtime/native_digest");

test("digests are those of portable code, for every text", () => {
  for (const text of ["", "abc", "é€𝄞", "\ud800", "a\udc00b", "x".repeat(64), "é".repeat(5000)]) {
    assert.is(secretDigest(text), encodeBase64url(sha256(text)));
  }
});

test.run();
