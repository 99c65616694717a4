/**
 * Text of others on a terminal: what moves the cursor, hides or turns text is written out, so that a description from a
 * server or a package can draw nothing that its reader does not see.
 *
 * @module
 */

/** The text in one line, blanks for line breaks, with what cannot be seen written as its code point. */
export function plainText(text: string, most: number = Infinity): string {
  const line = text.replace(/[\t\r\n\f\v ]+/g, " ").trim();
  const shown = line.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
  if (shown.length <= most) return shown;
  const characters = [...shown];
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : shown;
}
