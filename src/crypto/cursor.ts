/**
 * Cursors of lists: the position where a page ended, signed for one list, so that a client cannot forge or change a
 * cursor, or use it for another list.
 *
 * @module
 */
import { readSignedText, signText } from "./signed_text.ts";

/** @param purpose identifies the list, its owner and its filter */
export function writeCursor(key: Uint8Array, purpose: string, position: readonly string[]): string {
  return signText(key, `cursor:${purpose}`, JSON.stringify(position));
}

/** The position; `undefined` for a cursor that was not made for this list. */
export function readCursor(key: Uint8Array, purpose: string, cursor: string): string[] | undefined {
  const text = readSignedText(key, `cursor:${purpose}`, cursor);
  return text === undefined ? undefined : JSON.parse(text);
}
