/**
 * What one request may cost the server, at the most, by endpoint: the numbers of the table in `README.md`, for tests and
 * fuzzers. What the requests of strangers may store together is in `room.ts`.
 *
 * @module
 */

export interface EndpointBudget {
  /** Calls of the store. Each race that is lost to another request adds two. */
  readonly storeCalls: number;
  /** Bytes of keys and values that are written, and more for each byte of the request. */
  readonly storedBytes: number;
  readonly storedPerByte: number;
}

const KIB = 1024;

/** By path below the issuer. A path that is not named makes no call and stores nothing. */
export const ENDPOINT_BUDGETS: Readonly<Record<string, EndpointBudget>> = {
  "/login": { storeCalls: 14, storedBytes: 5 * KIB, storedPerByte: 0 },
  "/logout": { storeCalls: 4, storedBytes: 0, storedPerByte: 0 },
  "/device": { storeCalls: 18, storedBytes: 6 * KIB, storedPerByte: 0 },
  "/oauth/authorize": { storeCalls: 14, storedBytes: 20 * KIB, storedPerByte: 3 },
  // What a code was given for is stored with the grant and with each token.
  "/oauth/token": { storeCalls: 20, storedBytes: 48 * KIB, storedPerByte: 0 },
  "/oauth/par": { storeCalls: 5, storedBytes: 9 * KIB, storedPerByte: 0 },
  "/oauth/device_authorization": { storeCalls: 7, storedBytes: 5 * KIB, storedPerByte: 0 },
  "/oauth/register": { storeCalls: 4, storedBytes: 9 * KIB, storedPerByte: 0 },
  "/oauth/register/:id": { storeCalls: 4, storedBytes: 9 * KIB, storedPerByte: 0 },
  "/oauth/introspect": { storeCalls: 12, storedBytes: KIB, storedPerByte: 0 },
  "/oauth/revoke": { storeCalls: 12, storedBytes: KIB, storedPerByte: 0 },
  "/api/user": { storeCalls: 5, storedBytes: KIB, storedPerByte: 0 },
  // A signing key is made by the first request that needs one.
  "/.well-known/jwks.json": { storeCalls: 8, storedBytes: 4 * KIB, storedPerByte: 0 },
};
