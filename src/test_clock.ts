/**
 * A clock that is wrong, as that of a machine before it asks a time server. Only tests import this.
 *
 * @module
 */

/** Lets the clock be ahead by a day. @returns a function that corrects it */
export function putClockAhead(): () => void {
  const { now } = Date;
  let ahead = 86_400_000;
  Date.now = () => now() + ahead;
  return () => {
    // Also for who kept the function.
    ahead = 0;
    Date.now = now;
  };
}
