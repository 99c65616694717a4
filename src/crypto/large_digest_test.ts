import { suite } from "uvu";
import * as assert from "uvu/assert";
import { digestLarge, formatDigest } from "./large_digest.ts";
import { sha256 } from "./sha256.ts";

const test = suite("large_digest");

test("a text and its bytes have the digest that sha256 computes", async () => {
  const text = "é".repeat(100_000);
  assert.equal(await digestLarge(text), sha256(text));
  assert.equal(await digestLarge(new TextEncoder().encode(text)), sha256(text));
});

test("the text of a digest (FIPS 180-4, the digest of nothing)", async () => {
  assert.is(
    formatDigest(await digestLarge("")),
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  );
});

test.run();
