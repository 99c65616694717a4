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

/** The text with its lines and tabs, and code points for all other invisible characters. */
export function printableLines(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(
    /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** A value as JSON, in which invisible characters are escaped. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent) ?? "null";
  return text.replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) =>
      character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
}
