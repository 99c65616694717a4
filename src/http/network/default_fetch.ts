/**
 * The `fetch` for servers that the operator configures: that of the platform, unless an entry has a faster one.
 *
 * @module
 */

/** A function like the global `fetch`, for the text of a URL. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

let current: Fetch = (url, init) => globalThis.fetch(url, init);

/** Calls the `fetch` in use. */
export const defaultFetch: Fetch = (url, init) => current(url, init);

/** Replaces the platform's `fetch`. For entries of runtimes. */
export function useFetch(fetch: Fetch): void {
  current = fetch;
}
