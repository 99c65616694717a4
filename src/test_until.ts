/**
 * Waits for something that another task does. Tests wait for the event itself and not for a time, as machines under load are
 * many times slower.
 *
 * @module
 */

const TIMEOUT_MS = 90_000;
const PAUSE_MS = 5;

/**
 * Resolves to the first value of `read` that is neither `undefined`, `null` nor `false`.
 * @param what the end of the message "waited in vain until"
 * @throws {Error} after 90 seconds
 */
export async function until<Value>(
  read: () => Value | Promise<Value>,
  what: string = String(read),
): Promise<NonNullable<Exclude<Value, false>>> {
  for (const end = Date.now() + TIMEOUT_MS;;) {
    const value = await read();
    if (value !== undefined && value !== null && value !== false) {
      return value as NonNullable<Exclude<Value, false>>;
    }
    if (Date.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
