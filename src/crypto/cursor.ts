/**
 * Cursors of lists: where a page ended and for which list, signed, so that one cannot be made up, changed or carried to
 * another list.
 *
 * @module
 */
import { readSignedText, signText } from "./signed_text.ts";

/** `purpose` names the list, its owner and its filter. */
export function writeCursor(key: Uint8Array, purpose: string, position: readonly string[]): string {
  return signText(key, `cursor:${purpose}`, JSON.stringify(position));
}

/** The position; `undefined` for a cursor that was not made for this list. */
export function readCursor(key: Uint8Array, purpose: string, cursor: string): string[] | undefined {
  const text = readSignedText(key, `cursor:${purpose}`, cursor);
  return text === undefined ? undefined : JSON.parse(text);
}
