/**
 * Timing of leases: the instance that writes a stream or runs a task renews a lease in the store, and others take it for
 * stopped when the lease has ended.
 *
 * @module
 */

/** How long a lease is valid. */
export const LEASE_MS = 15_000;

/** How often its holder renews it. */
export const LEASE_RENEWAL_MS = 5_000;

/** How long others wait after the end of a lease: while the store was unavailable, the holder could not renew it. */
export const LEASE_GRACE_MS = 6_000;
