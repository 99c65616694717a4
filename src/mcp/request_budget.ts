/**
 * What one request may cost the server, at the most: the numbers of the table in `README.md`, for tests and fuzzers.
 *
 * @module
 */

export interface RequestBudget {
  /** Calls of the store for a request, and for each message of a batch or task that is named in it. */
  readonly storeCalls: number;
  readonly storeCallsPerMember: number;
  /** Bytes of keys and values that are written for each of those, and for each byte of the request. */
  readonly storedBytesPerMember: number;
  readonly storedBytesPerByte: number;
}

/** Of a request to `/mcp`. What tools do by themselves is not in it. */
export const REQUEST_BUDGET: RequestBudget = {
  storeCalls: 12,
  storeCallsPerMember: 6,
  storedBytesPerMember: 1024,
  storedBytesPerByte: 3,
};
