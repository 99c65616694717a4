/**
 * Renews a stored token once for all instances: one of the callers that find it stale gets a lease of the record by a commit,
 * the others wait for the result.
 *
 * @module
 */
import { randomSecret } from "../crypto/secret.ts";
import { PublicFetchError } from "../http/network/public_fetch.ts";
import {
  LOST_RACE,
  MAX_COMMIT_TRIES,
  pauseBefore,
  retryLostRaces,
  retryWhileUnavailable,
} from "../store/retry.ts";
import { compareAndSet, type Entry, type Key, type Store, StoreUnavailableError } from "../store/store.ts";

/** How long the instance that renews has: a fetch ends after 5 seconds. */
const LEASE_MS = 15_000;
/** How long a server that did not answer is not asked for this record. */
const FAILURE_PAUSE_MS = 2000;
const POLL_INTERVAL_MS = 50;
const MAX_POLLS = 2 * LEASE_MS / POLL_INTERVAL_MS;

/** The record of a token that can be renewed. */
export interface Renewable {
  /** When the token should be renewed, in milliseconds; absent when that is not known. */
  readonly stale?: number;
  /** The instance that renews it now, or that failed to: until then no other one tries. */
  readonly refresh?: { readonly by: string; readonly until: number; readonly failed?: true };
}

/** How tokens of one kind of records are read and renewed. */
export interface Renewal<Value extends Renewable, Token> {
  /** Whether a stale token can be renewed. */
  isRenewable(value: Value): boolean;
  /** The token; `undefined` when it cannot be read. */
  read(entry: Entry<Value>): Promise<Token | undefined>;
  /**
   * A new token and the record with it; `undefined` when there will never be one: the record is removed.
   * @throws {Error} when it cannot be had now: no other caller tries for two seconds
   */
  renew(entry: Entry<Value>): Promise<{ readonly value: Value; readonly token: Token } | undefined>;
  /** Ends a new token whose record was removed meanwhile. @param entry the record before */
  discard(token: Token, entry: Entry<Value>): Promise<void>;
}

/**
 * The token at a key, renewed when it is stale: by one of the callers, on whichever instance, while the others wait.
 * `undefined` when there is none, or it is stale and cannot be renewed.
 * @param signal ends the wait for another caller
 * @throws {PublicFetchError} when it could not be renewed a moment ago, and what `renew` throws
 * @throws {StoreUnavailableError} when another instance takes too long
 */
export async function getRenewed<Value extends Renewable, Token>(
  { store, now }: { readonly store: Store; readonly now: () => number },
  key: Key,
  renewal: Renewal<Value, Token>,
  signal?: AbortSignal,
): Promise<Token | undefined> {
  let races = 0;
  for (let polls = 0; polls < MAX_POLLS;) {
    signal?.throwIfAborted();
    const entry = await store.get<Value>(key);
    if (!entry) return undefined;
    const { stale, refresh } = entry.value;
    if (stale === undefined || now() < stale) return await renewal.read(entry);
    if (!renewal.isRenewable(entry.value)) return undefined;
    const wait = (refresh?.until ?? 0) - now();
    // A longer one comes from a clock that was ahead and is corrected; those of instances may differ by seconds.
    if (refresh && wait > 0 && wait <= 2 * LEASE_MS) {
      if (refresh.failed) throw new PublicFetchError("The token could not be refreshed a moment ago");
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
      polls++;
      continue;
    }
    const lease = { by: randomSecret(""), until: now() + LEASE_MS };
    if (await compareAndSet(store, key, entry.version, { ...entry.value, refresh: lease }, entry.expires)) {
      return await renewAs(store, now, renewal, entry, lease.by);
    }
    if (++races === MAX_COMMIT_TRIES) break;
    await pauseBefore(races);
  }
  throw new StoreUnavailableError("Another instance is still refreshing this token. Try again in 1 second");
}

/** Renews as the instance that has the lease. */
async function renewAs<Value extends Renewable, Token>(
  store: Store,
  now: () => number,
  renewal: Renewal<Value, Token>,
  entry: Entry<Value>,
  by: string,
): Promise<Token | undefined> {
  const { key } = entry;
  /** Replaces or removes the record if it is still the one with this lease. It may have been sealed anew meanwhile. */
  const settle = (change: (value: Value) => Value | undefined): Promise<boolean> =>
    retryLostRaces(async () => {
      const found = await store.get<Value>(key);
      if (found?.value.refresh?.by !== by) return false;
      const value = change(found.value);
      const done = await store.commit({
        check: [{ key, version: found.version }],
        ...(value ? { set: [{ key, value, expires: found.expires }] } : { remove: [key] }),
      });
      return done || LOST_RACE;
    });
  let renewed: { readonly value: Value; readonly token: Token } | undefined;
  try {
    renewed = await renewal.renew(entry);
  } catch (error) {
    const refresh = { by, until: now() + FAILURE_PAUSE_MS, failed: true } as const;
    await settle((value) => ({ ...value, refresh }));
    throw error;
  }
  if (!renewed) {
    await settle(() => undefined);
    return undefined;
  }
  const { value, token } = renewed;
  // The refresh token before may be of no use any more.
  if (await retryWhileUnavailable(() => settle(() => value))) return token;
  const found = await store.get<Value>(key);
  // A new token has replaced it, or else the record was removed, meanwhile.
  if (found) return await renewal.read(found);
  await renewal.discard(token, entry);
  return undefined;
}
