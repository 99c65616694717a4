/**
 * Waits for the next turn of the event loop.
 *
 * @module
 */

/** Resolves after the pending events were handled. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
