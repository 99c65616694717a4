/**
 * Whether requests of one process may share work in progress. On workerd they may not: I/O that a request started ends
 * with it, so each request then watches the store by itself.
 *
 * @module
 */

let isIsolated = false;

/** Isolates requests from now on. A runtime entry calls it once at start. */
export function isolateRequests(): void {
  isIsolated = true;
}

export function areRequestsIsolated(): boolean {
  return isIsolated;
}
