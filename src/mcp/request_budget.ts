/**
 * The maximum cost of one request, as in the table of `README.md`, for tests and fuzzers.
 *
 * @module
 */

export interface RequestBudget {
  /** Store calls per request, and per message of a batch or task named in it. */
  readonly storeCalls: number;
  readonly storeCallsPerMember: number;
  /** Bytes of keys and values that are written per message or task, and per byte of the request. */
  readonly storedBytesPerMember: number;
  readonly storedBytesPerByte: number;
}

/** The budget of a request to `/mcp`, without what tools do themselves. */
export const REQUEST_BUDGET: RequestBudget = {
  storeCalls: 12,
  storeCallsPerMember: 6,
  storedBytesPerMember: 1024,
  storedBytesPerByte: 3,
};
