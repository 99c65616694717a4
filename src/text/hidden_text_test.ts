import { suite } from "uvu";
import * as assert from "uvu/assert";
import { findAllHidden, findHidden } from "./hidden_text.ts";

const test = suite("text/hidden_text");

for (
  const [what, text, point] of [
    ["tags that spell text", "a\u{e0041}b", "U+E0041"],
    ["tags after a flag that Unicode does not recommend", "🏴\u{e0075}\u{e0073}\u{e007f}", "U+E0075"],
    ["a bidirectional override", "a\u202eb", "U+202E"],
    ["a bidirectional isolate", "a\u2066b", "U+2066"],
    ["a zero-width space", "a\u200bb", "U+200B"],
    ["a joiner between letters", "pass\u200dword", "U+200D"],
    ["a non-joiner between letters", "pass\u200cword", "U+200C"],
    ["a word joiner", "a\u2060b", "U+2060"],
    ["a byte order mark inside", "a\ufeffb", "U+FEFF"],
    ["a terminal escape", "\u001b[31m", "U+001B"],
    ["a C1 control character", "\u009b31m", "U+009B"],
    ["a DELETE character", "\u007f", "U+007F"],
    ["an emoji selector after a letter", "a\ufe0f", "U+FE0F"],
    ["several selectors after an emoji", "😀\u{e0100}\u{e0101}", "U+E0100"],
    ["a second selector", "☎\ufe0f\ufe0f\ufe0f", "U+FE0F"],
    ["a Hangul filler", "a\u3164b", "U+3164"],
    ["a filler of Hangul jamo", "a\u1160b", "U+1160"],
    ["an Arabic letter mark", "a\u061cb", "U+061C"],
    ["a soft hyphen", "pass\u00adword", "U+00AD"],
    ["a grapheme joiner", "a\u034fb", "U+034F"],
    ["a format character of shorthand", "a\u{1bca1}b", "U+1BCA1"],
    ["a format character of music", "a\u{1d17a}b", "U+1D17A"],
    ["an unassigned ignorable code point", "a\u{e0fff}b", "U+E0FFF"],
    ["a Mongolian selector after a letter of another script", "a\u180b", "U+180B"],
    ["several Mongolian selectors", "ᠠ\u180b\u180c", "U+180C"],
    ["a blank Braille pattern", "a\u2800b", "U+2800"],
  ] as const
) {
  test(`${what} is found`, () => assert.is(findHidden(text)?.point, point));
}

for (
  const [what, text] of [
    ["plain text with tabs and line ends", "a\tb\r\nc\n"],
    ["emoji with joiners, skins, selectors and keycaps", "👩‍💻 👩🏽‍💻 🏳️‍🌈 ❤️ ☎︎ 1️⃣ 👁️‍🗨️"],
    [
      "the flags of England, Scotland and Wales",
      "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    ],
    ["joiners in Persian, Hindi and Sinhala", "می\u200cخواهم क्\u200dष ශ්\u200dරී"],
    ["variants of an ideograph", "葛\u{e0100}"],
    ["variants of a Mongolian letter", "ᠠ\u180b ᠭ\u180d"],
    ["Braille", "⠓⠑⠇⠇⠕"],
    ["accents, in one code point and in two", "é e\u0301"],
  ] as const
) {
  test(`${what} are allowed`, () => assert.is(findHidden(text), undefined));
}

test("every ignorable code point is found between letters", () => {
  const missed: string[] = [];
  for (let point = 0; point <= 0x10ffff; point++) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const character = String.fromCodePoint(point);
    if (!/\p{Default_Ignorable_Code_Point}/u.test(character)) continue;
    if (!findHidden(`a${character}b`)) missed.push(point.toString(16));
  }
  assert.equal(missed, []);
});

test("the line is counted with LF, CR LF and CR", () => {
  for (const end of ["\n", "\r\n", "\r"]) assert.is(findHidden(["a", "b", "c\u200b"].join(end))?.line, 3);
});

test("the first of each line is found, up to the given number of lines", () => {
  const text = "a\u200b\u202e\r\nb\n\u2066c\u200b\rd\u200b";
  const all = [{ point: "U+200B", line: 1 }, { point: "U+2066", line: 3 }, { point: "U+200B", line: 4 }];
  assert.equal(findAllHidden(text, 10), all);
  assert.equal(findAllHidden(text, 2), all.slice(0, 2));
  assert.equal(findAllHidden("a\nb", 10), []);
});

test("8 MB of emoji are searched", () => {
  const text = "👩‍💻".repeat(700_000);
  assert.is(findHidden(text), undefined);
});

test.run();
