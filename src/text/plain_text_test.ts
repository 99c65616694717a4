import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toPlainText } from "./plain_text.ts";

const test = suite("text/plain_text");

for (
  const [what, character] of [
    ["a line end", "\n"],
    ["a carriage return", "\r"],
    ["a terminal escape", "\u001b"],
    ["a C1 control", "\u009b"],
    ["a bidirectional override", "\u202e"],
    ["a bidirectional isolate", "\u2066"],
    ["a zero-width space", "\u200b"],
    ["a tag", "\u{e0041}"],
    ["a line separator", "\u2028"],
    ["a variation selector", "\ufe0f"],
    ["a Hangul filler", "\u3164"],
    ["a lone surrogate", "\ud800"],
    ["a private use character", "\ue000"],
  ] as const
) {
  test(`${what} is written as its code point`, () => {
    const code = character.codePointAt(0)!.toString(16);
    assert.is(toPlainText(`a${character}b`, 100), `a\\u{${code}}b`);
  });
}

test("letters of every script, spaces and emoji stay", () => {
  const text = "Grüße, 東京 नमस्ते 😀 <b>";
  assert.is(toPlainText(text, 100), text);
});

test("what is longer is cut, also by its escapes", () => {
  assert.is(toPlainText("a".repeat(10), 5), "aaaaa…");
  assert.is(toPlainText("\n".repeat(5), 10).length, 11);
});

test.run();
