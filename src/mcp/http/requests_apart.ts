/**
 * Whether requests of one process may wait for each other. On workerd none may: what one began ends with it, even where
 * another listens to it. So each then watches for itself.
 *
 * @module
 */

let apart = false;

/** Keeps requests apart from now on. For runtime entries, once at start. */
export function keepRequestsApart(): void {
  apart = true;
}

export function areRequestsApart(): boolean {
  return apart;
}
