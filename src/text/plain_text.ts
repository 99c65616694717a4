/**
 * Shows text of others to a person: without characters that hide, reorder or control what is shown.
 *
 * @module
 */

/**
 * Controls, formats (zero-width, direction, tags), separators of lines, lone surrogates, private use, variation selectors and
 * fillers. LF is one of them: what is shown stays in its place.
 */
const ESCAPED =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** The text on one line, with special characters as `\u{202e}`, and cut after so many characters. */
export function toPlainText(text: string, max: number): string {
  const shown = text.slice(0, max).replace(
    ESCAPED,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
  const plain = shown.length > max ? shown.slice(0, max) : shown;
  return text.length > max || shown.length > max ? `${plain}…` : plain;
}
