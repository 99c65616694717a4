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
  /** Further store calls for each session, grant and consent of the user who is signed in. @default 0 */
  readonly storeCallsPerRecord?: number;
}

const KIB = 1024;

/** By path below the issuer. Other paths make no store call and store nothing. */
export const ENDPOINT_BUDGETS: Readonly<Record<string, EndpointBudget>> = {
  "/login": { storeCalls: 14, storedBytes: 5 * KIB, storedPerByte: 0 },
  // With OpenID Connect a notice is stored for each of up to 100 clients of the session. Deliveries are not counted.
  // A user's factors are one record: up to 20 passkeys and 10 recovery codes.
  "/login/factor": { storeCalls: 24, storedBytes: 28 * KIB, storedPerByte: 0 },
  "/login/passkey": { storeCalls: 9, storedBytes: 28 * KIB, storedPerByte: 0 },
  "/account/factors": { storeCalls: 4, storedBytes: 0, storedPerByte: 0 },
  "/account/factors/totp": { storeCalls: 8, storedBytes: 28 * KIB, storedPerByte: 0 },
  "/account/factors/passkey": { storeCalls: 11, storedBytes: 28 * KIB, storedPerByte: 0 },
  "/account/factors/rename": { storeCalls: 5, storedBytes: 28 * KIB, storedPerByte: 0 },
  "/account/factors/remove": { storeCalls: 5, storedBytes: 28 * KIB, storedPerByte: 0 },
  "/account/factors/codes": { storeCalls: 6, storedBytes: 28 * KIB, storedPerByte: 0 },
  // With `sendMail`.
  "/login/forgot": { storeCalls: 14, storedBytes: KIB, storedPerByte: 0 },
  // Two more for each hundred sessions of the user, and for each hundred grants and consents that end.
  "/login/reset": { storeCalls: 20, storedBytes: 2 * KIB, storedPerByte: 0 },
  "/login/verify-email": { storeCalls: 6, storedBytes: KIB, storedPerByte: 0 },
  // With `signUp`.
  "/login/sign-up": { storeCalls: 18, storedBytes: 6 * KIB, storedPerByte: 0 },
  "/login/sign-up/confirm": { storeCalls: 12, storedBytes: 4 * KIB, storedPerByte: 0 },
  // A page writes when the session was used. Up to 1,000 sessions and 1,000 grants of the user are read.
  "/account": { storeCalls: 8, storedBytes: KIB, storedPerByte: 0 },
  "/account/profile": { storeCalls: 9, storedBytes: 2 * KIB, storedPerByte: 0 },
  "/account/email": { storeCalls: 12, storedBytes: 2 * KIB, storedPerByte: 0 },
  "/account/password": { storeCalls: 28, storedBytes: 6 * KIB, storedPerByte: 0, storeCallsPerRecord: 0.1 },
  "/account/sessions": { storeCalls: 10, storedBytes: 6 * KIB, storedPerByte: 0, storeCallsPerRecord: 1 },
  "/account/applications": { storeCalls: 10, storedBytes: 5 * KIB, storedPerByte: 0, storeCallsPerRecord: 2 },
  "/account/providers": { storeCalls: 16, storedBytes: KIB, storedPerByte: 0 },
  "/account/data": { storeCalls: 6, storedBytes: KIB, storedPerByte: 0 },
  "/account/export": { storeCalls: 14, storedBytes: KIB, storedPerByte: 0, storeCallsPerRecord: 2 },
  "/account/delete": { storeCalls: 20, storedBytes: KIB, storedPerByte: 0, storeCallsPerRecord: 1 },
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
