/**
 * Cursors of paginated lists, as clients send them back
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination).
 *
 * @module
 */
import { readCursor, writeCursor } from "../../crypto/cursor.ts";
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";

export { writeCursor };

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
