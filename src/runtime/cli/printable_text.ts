/**
 * Makes text from a server or a package safe to print on a terminal: characters that move the cursor, or hide or reorder
 * text, are written as code points.
 *
 * @module
 */

/** The text in one line, with blanks for line breaks and code points for invisible characters. */
export function printableText(text: string, maxCharacters: number = Infinity): string {
  const line = text.replace(/[\t\r\n\f\v ]+/g, " ").trim();
  const shown = line.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
  if (shown.length <= maxCharacters) return shown;
  const characters = [...shown];
  return characters.length > maxCharacters ? characters.slice(0, maxCharacters - 1).join("") + "…" : shown;
}
