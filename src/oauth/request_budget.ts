/**
 * The most that one request may cost the server, by endpoint: the numbers of the table in `README.md`, for tests and
 * fuzzers. `storage_quota.ts` limits what unauthenticated requests store together.
 *
 * @module
 */

export interface EndpointBudget {
  /** Store calls. Each lost race against another request adds two. */
  readonly storeCalls: number;
  /** Bytes of keys and values that are written. */
  readonly storedBytes: number;
  /** Further bytes for each byte of the request. */
  readonly storedPerByte: number;
}

const KIB = 1024;

/** By path below the issuer. Other paths make no store call and store nothing. */
export const ENDPOINT_BUDGETS: Readonly<Record<string, EndpointBudget>> = {
  "/login": { storeCalls: 14, storedBytes: 5 * KIB, storedPerByte: 0 },
  // With OpenID Connect a notice is stored for each of up to 100 clients of the session. Deliveries are not counted.
  // With `sendMail`.
  "/login/forgot": { storeCalls: 14, storedBytes: KIB, storedPerByte: 0 },
  // Two more for each hundred sessions of the user, and four for each application whose access ends.
  "/login/reset": { storeCalls: 20, storedBytes: 2 * KIB, storedPerByte: 0 },
  "/login/verify-email": { storeCalls: 6, storedBytes: KIB, storedPerByte: 0 },
  // With `signUp`.
  "/login/sign-up": { storeCalls: 18, storedBytes: 6 * KIB, storedPerByte: 0 },
  "/login/sign-up/confirm": { storeCalls: 12, storedBytes: 4 * KIB, storedPerByte: 0 },
  "/logout": { storeCalls: 8, storedBytes: 48 * KIB, storedPerByte: 0 },
  "/oauth/logout": { storeCalls: 12, storedBytes: 48 * KIB, storedPerByte: 0 },
  // The first request that needs a signing key creates it.
  "/oauth/userinfo": { storeCalls: 10, storedBytes: 4 * KIB, storedPerByte: 0 },
  "/device": { storeCalls: 18, storedBytes: 6 * KIB, storedPerByte: 0 },
  "/oauth/authorize": { storeCalls: 14, storedBytes: 20 * KIB, storedPerByte: 3 },
  // The authorization is stored with the grant and with each token.
  "/oauth/token": { storeCalls: 20, storedBytes: 48 * KIB, storedPerByte: 0 },
  "/oauth/par": { storeCalls: 5, storedBytes: 9 * KIB, storedPerByte: 0 },
  "/oauth/device_authorization": { storeCalls: 7, storedBytes: 5 * KIB, storedPerByte: 0 },
  "/oauth/register": { storeCalls: 4, storedBytes: 9 * KIB, storedPerByte: 0 },
  "/oauth/register/:id": { storeCalls: 4, storedBytes: 9 * KIB, storedPerByte: 0 },
  "/oauth/introspect": { storeCalls: 12, storedBytes: KIB, storedPerByte: 0 },
  "/oauth/revoke": { storeCalls: 12, storedBytes: KIB, storedPerByte: 0 },
  "/api/user": { storeCalls: 5, storedBytes: KIB, storedPerByte: 0 },
  "/.well-known/jwks.json": { storeCalls: 8, storedBytes: 4 * KIB, storedPerByte: 0 },
};
