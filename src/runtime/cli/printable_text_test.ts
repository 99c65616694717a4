import { suite } from "uvu";
import * as assert from "uvu/assert";
import { printableText } from "./printable_text.ts";

const test = suite("printableText");

test("control, invisible and bidirectional characters are written as code points", () => {
  assert.is(
    printableText("a\x1b[2Jb\u202ec\u200bd\u{e0041}\x9b"),
    "a\\u{1b}[2Jb\\u{202e}c\\u{200b}d\\u{e0041}\\u{9b}",
  );
  assert.is(printableText("Grüße, 世界 👍"), "Grüße, 世界 👍");
  assert.is(printableText("\ud800"), "\\u{d800}");
});

test("line breaks become spaces; a long text is cut between code points", () => {
  assert.is(printableText("  a\r\n\tb \u2028 c"), "a b \\u{2028} c");
  assert.is(printableText("abcdef", 4), "abc…");
  assert.is(printableText("abcd", 4), "abcd");
  assert.is(printableText("ab👍d", 4), "ab👍d");
  assert.is(printableText("ab👍de", 4), "ab👍…");
});

test.run();
