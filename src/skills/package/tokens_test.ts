import { suite } from "uvu";
import * as assert from "uvu/assert";
import { estimateFileTokens, estimateLevels, estimateTokens } from "./tokens.ts";

const test = suite("skills/tokens");

test("four characters are a token, and what is left of them one more", () => {
  assert.is(estimateTokens(""), 0);
  assert.is(estimateTokens("a"), 1);
  assert.is(estimateTokens("abcd"), 1);
  assert.is(estimateTokens("abcde"), 2);
});

test("an ideograph, a kana and a Hangul syllable are a token each", () => {
  assert.is(estimateTokens("漢字"), 2);
  assert.is(estimateTokens("かな한글"), 4);
  assert.is(estimateTokens("漢字 with text"), 2 + 3);
  assert.is(estimateTokens("𠀀"), 1, "also beyond the basic plane");
});

test("an emoji is a token", () => {
  assert.is(estimateTokens("😀😀"), 2);
  assert.is(estimateTokens("a 😀 b"), 1 + 1);
});

test("metadata is name and description, as a catalogue has them", () => {
  assert.equal(estimateLevels("demo", "Use it.", "x".repeat(401)), { metadata: 4, instructions: 101 });
});

test("a file costs by its size when it is text, and nothing when it is none", () => {
  assert.is(estimateFileTokens("text/markdown", 401), 101);
  assert.is(estimateFileTokens("application/json", 8), 2);
  assert.is(estimateFileTokens("image/png", 400), 0);
});

test("8 MB of ideographs and letters are estimated", () => {
  assert.is(estimateTokens("漢a".repeat(2_000_000)), 2_000_000 + 500_000);
});

test.run();
