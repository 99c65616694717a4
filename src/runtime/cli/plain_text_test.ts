import { suite } from "uvu";
import * as assert from "uvu/assert";
import { plainText } from "./plain_text.ts";

const test = suite("cli/plain_text");

test("what moves the cursor, hides or turns text is written out", () => {
  assert.is(
    plainText("a\x1b[2Jb\u202ec\u200bd\u{e0041}\x9b"),
    "a\\u{1b}[2Jb\\u{202e}c\\u{200b}d\\u{e0041}\\u{9b}",
  );
  assert.is(plainText("Grüße, 世界 👍"), "Grüße, 世界 👍");
  assert.is(plainText("\ud800"), "\\u{d800}");
});

test("line breaks are blanks, and a long text is cut between characters", () => {
  assert.is(plainText("  a\r\n\tb \u2028 c"), "a b \\u{2028} c");
  assert.is(plainText("abcdef", 4), "abc…");
  assert.is(plainText("abcd", 4), "abcd");
  assert.is(plainText("ab👍d", 4), "ab👍d");
  assert.is(plainText("ab👍de", 4), "ab👍…");
});

test.run();
