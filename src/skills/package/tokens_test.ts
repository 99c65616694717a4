import { suite } from "uvu";
import * as assert from "uvu/assert";
import { estimateFileTokens, estimateLevels, estimateTokens } from "./tokens.ts";

const test = suite("skills/package/tokens");

test("four characters are a token, rounded up", () => {
  assert.is(estimateTokens(""), 0);
  assert.is(estimateTokens("a"), 1);
  assert.is(estimateTokens("abcd"), 1);
  assert.is(estimateTokens("abcde"), 2);
});

test("each ideograph, kana and Hangul syllable is a token", () => {
  assert.is(estimateTokens("漢字"), 2);
  assert.is(estimateTokens("かな한글"), 4);
  assert.is(estimateTokens("漢字 with text"), 2 + 3);
  assert.is(estimateTokens("𠀀"), 1, "also outside the Basic Multilingual Plane");
});

test("an emoji is a token", () => {
  assert.is(estimateTokens("😀😀"), 2);
  assert.is(estimateTokens("a 😀 b"), 1 + 1);
});

test("metadata tokens count name and description", () => {
  assert.equal(estimateLevels("demo", "Use it.", "x".repeat(401)), { metadata: 4, instructions: 101 });
});

test("a text file is estimated by its size, and a binary file has no tokens", () => {
  assert.is(estimateFileTokens("text/markdown", 401), 101);
  assert.is(estimateFileTokens("application/json", 8), 2);
  assert.is(estimateFileTokens("image/png", 400), 0);
});

test("8 MB of ideographs and letters are estimated", () => {
  assert.is(estimateTokens("漢a".repeat(2_000_000)), 2_000_000 + 500_000);
});

test.run();
