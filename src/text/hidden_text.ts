/**
 * Finds characters that a reader does not see but a model does, or that change the direction of text: they can carry
 * hidden instructions. Well-formed emoji, and joiners in scripts that need them, are allowed.
 *
 * @module
 */
import { latePattern } from "./late_pattern.ts";
import { countLineEnds } from "./line_ends.ts";

/** Scripts whose spelling needs the joiners U+200C and U+200D (The Unicode Standard, section 23.2). */
const JOINING = [
  "Arabic",
  "Bengali",
  "Devanagari",
  "Gujarati",
  "Gurmukhi",
  "Kannada",
  "Khmer",
  "Malayalam",
  "Mongolian",
  "Oriya",
  "Sinhala",
  "Syriac",
  "Tamil",
  "Telugu",
].map((script) => `\\p{Script_Extensions=${script}}`).join("");

const HIDDEN = latePattern(
  [
    // Controls but tab and line ends, among them the escape of terminals; signs without a shape, and blank Braille.
    "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2800\\ufff9-\\ufffb]",
    // Fillers, direction overrides, invisible operators, tags, unassigned code points; not joiners and selectors.
    "\\p{Default_Ignorable_Code_Point}(?<![\\u180b-\\u180d\\u180f\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}])",
    // Joiners that join nothing. The lookbehind runs only where there is a joiner.
    `\\u200c(?<![${JOINING}]\\u200c)`,
    `\\u200d(?<![${JOINING}\\p{Extended_Pictographic}\\ufe0f\\u{1f3fb}-\\u{1f3ff}]\\u200d)`,
    // Variation selectors without a base character: a sequence of them can encode any text.
    "[\\ufe0e\\ufe0f](?<!\\p{Emoji}.)",
    "[\\u180b-\\u180d\\u180f](?<!(?=\\p{Script=Mongolian})\\p{L}.)",
    "[\\ufe00-\\ufe0d\\u{e0100}-\\u{e01ef}](?<!\\p{Script=Han}.)",
  ].join("|"),
  "gu",
);

/** The flags of England, Scotland and Wales: the only emoji that are spelled with tags. */
const FLAGS =
  /\u{1f3f4}\u{e0067}\u{e0062}(\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

export interface HiddenCharacter {
  /** Such as `U+200B`. */
  readonly point: string;
  /** From 1. */
  readonly line: number;
}

/** The first hidden character; `undefined` when there is none. */
export function findHidden(text: string): HiddenCharacter | undefined {
  return findAllHidden(text, 1)[0];
}

/** The first hidden character of each line that has one, of `most` lines at most. */
export function findAllHidden(text: string, most: number): HiddenCharacter[] {
  const shown = text.replace(FLAGS, "");
  const found: HiddenCharacter[] = [];
  let line = 1;
  let at = 0;
  const hidden = HIDDEN();
  hidden.lastIndex = 0;
  for (let match; found.length < most && (match = hidden.exec(shown));) {
    line += countLineEnds(shown, at, match.index);
    at = match.index;
    found.push({ point: "U+" + match[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0"), line });
    // Only the first of each line counts.
    const ends = [shown.indexOf("\n", at), shown.indexOf("\r", at)].filter((end) => end >= 0);
    if (ends.length === 0) break;
    hidden.lastIndex = Math.min(...ends);
  }
  return found;
}
