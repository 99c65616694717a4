/**
 * Cursors of lists: the position where a page ended, signed for one list, so that a client cannot forge or change a
 * cursor, or use it for another list.
 *
 * @module
 */
import type { ServerSecrets } from "./server_secrets.ts";
import { readSignedText, signText } from "./signed_text.ts";

/** @param purpose identifies the list, its owner and its filter */
export function writeCursor(secrets: ServerSecrets, purpose: string, position: readonly string[]): string {
  return signText(secrets, `cursor:${purpose}`, JSON.stringify(position));
}

/** The position; `undefined` for a cursor that was not made for this list. */
export function readCursor(secrets: ServerSecrets, purpose: string, cursor: string): string[] | undefined {
  const text = readSignedText(secrets, `cursor:${purpose}`, cursor);
  return text === undefined ? undefined : JSON.parse(text);
}
