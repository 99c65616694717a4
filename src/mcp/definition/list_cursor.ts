/**
 * Cursors of paginated lists, as clients send them back
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination).
 *
 * @module
 */
import { readCursor, writeCursor } from "../../crypto/cursor.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";

/**
 * The position that a cursor marks; `undefined` without a cursor.
 * @param purpose names the list for which the cursor was written
 * @throws {RpcError} -32602 for a cursor that was not issued for this list
 */
export async function readListCursor(
  cursor: unknown,
  purpose: string,
  secret: FindSecrets,
): Promise<string[] | undefined> {
  if (cursor === undefined) return undefined;
  const position = typeof cursor === "string" ? readCursor(await secret(), purpose, cursor) : undefined;
  if (position) return position;
  throw new RpcError(
    INVALID_PARAMS,
    "Invalid params: invalid cursor. Request the list again without a cursor",
  );
}

/** An entry of a list, known by its name. */
interface Named {
  readonly name: string;
}

/** How many names before that of the last entry a cursor holds. */
const EARLIER_NAMES = 2;

/**
 * The cursor of the page that starts at the index `start`, which is 1 or more: this index, and the names of the last entry
 * before it, of the entry at it, and of earlier entries.
 */
export function writeListCursor(
  start: number,
  entries: readonly Named[],
  purpose: string,
  secret: Awaited<ReturnType<FindSecrets>>,
): string {
  const earlier = entries.slice(Math.max(0, start - 1 - EARLIER_NAMES), start - 1).reverse();
  const named = [entries[start - 1]!, entries[start]!, ...earlier];
  return writeCursor(secret, purpose, [String(start), ...named.map(({ name }) => name)]);
}

/**
 * The index at which the page of a cursor starts: after the last entry of the previous page, wherever that entry is now. When
 * it is gone, at the entry that came next, or after an earlier one: an entry that comes twice does no harm, one that is
 * missing would.
 * @throws {RpcError} as {@linkcode readListCursor}
 */
export async function readStart(
  cursor: unknown,
  purpose: string,
  secret: FindSecrets,
  entries: readonly Named[],
): Promise<number> {
  const position = await readListCursor(cursor, purpose, secret);
  if (!position) return 0;
  const [offset, ...names] = position;
  for (const [i, name] of names.entries()) {
    const found = entries.findIndex((entry) => entry.name === name);
    if (found >= 0) return i === 1 ? found : found + 1;
  }
  // At least these entries are gone: all but the one that came next were before the page.
  return Math.max(0, Number(offset) - Math.max(1, names.length - 1));
}
