/**
 * Random bytes, for secrets, identifiers and keys.
 *
 * @module
 */

const POOL_BYTES = 4096;
let pool: Uint8Array<ArrayBuffer> | undefined;
let used = POOL_BYTES;

/** `length` random bytes. Taken from a pool, because a call of the runtime costs as much for 4096 bytes as for a few. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  if (length > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(length));
  if (used + length > POOL_BYTES) {
    pool = crypto.getRandomValues(pool ?? new Uint8Array(POOL_BYTES));
    used = 0;
  }
  const bytes = pool!.slice(used, used + length);
  // The pool keeps no copy of returned bytes.
  pool!.fill(0, used, used + length);
  used += length;
  return bytes;
}
