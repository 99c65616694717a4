import { suite } from "uvu";
import * as assert from "uvu/assert";
import { estimateTokens } from "./tokens.ts";

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

test.run();
