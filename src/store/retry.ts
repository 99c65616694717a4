/**
 * Retries a change whose commit lost a race, a limited number of times, with random and growing pauses, so that
 * concurrent changes do not collide again; and work that no client can request again while the store is unavailable.
 *
 * @module
 */
import { type Key, type Store, StoreUnavailableError } from "./store.ts";

/** Attempts of one change before it fails. */
export const MAX_COMMIT_TRIES = 20;
/** The longest pause. All pauses of one change together take about a second. */
const MAX_PAUSE_MS = 100;
/** The store is assumed not to be unavailable for longer. */
export const MAX_STORE_OUTAGE_MS = 60_000;
const OUTAGE_PAUSE_MS = 250;

/** The result of an attempt whose commit lost a race. */
export const LOST_RACE: unique symbol = Symbol("lost race");

/**
 * The result of the first attempt that is not {@linkcode LOST_RACE}. Each attempt must read the records that it changes.
 * @throws {StoreUnavailableError} when every attempt lost: nothing was changed, and the caller may retry in a second
 */
export async function retryLostRaces<Result>(
  attempt: () => Promise<Result | typeof LOST_RACE>,
): Promise<Result> {
  for (let tries = 0; tries < MAX_COMMIT_TRIES; tries++) {
    if (tries > 0) await pauseBefore(tries);
    const result = await attempt();
    if (result !== LOST_RACE) return result;
  }
  throw new StoreUnavailableError("Too many concurrent changes to the same record. Try again in 1 second");
}

/** Removes a record, also one that changes meanwhile. Of concurrent callers one gets `true`; `false` when there is none. */
export function removeExisting(store: Store, key: Key): Promise<boolean> {
  return retryLostRaces(async () => {
    const entry = await store.get(key);
    if (!entry) return false;
    return await store.commit({ check: [{ key, version: entry.version }], remove: [key] }) || LOST_RACE;
  });
}

/**
 * Whether a commit that failed is done all the same, because only its response was lost.
 * @param own the key of a record that this commit sets
 * @param isOwn whether the record is the one of this commit, where another one may set it, too
 */
export async function isDoneDespite<Value>(
  error: unknown,
  store: Store,
  own: Key,
  isOwn: (value: Value) => boolean = () => true,
): Promise<boolean> {
  return error instanceof StoreUnavailableError &&
    await store.get<Value>(own).then((entry) => entry !== undefined && isOwn(entry.value), () => false);
}

/**
 * Ignores a store that is unavailable, for code that tries again later, or whose work expires.
 * @throws any other error
 */
export function ignoreUnavailable(error: unknown): undefined {
  if (!(error instanceof StoreUnavailableError)) throw error;
}

/** Waits before attempt number `tries` (from 1): longer each time, with a random part. */
export function pauseBefore(tries: number): Promise<void> {
  const longest = Math.min(2 ** tries, MAX_PAUSE_MS);
  return new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
}

/**
 * Runs `work`, which must be idempotent, until it succeeds or a minute is over. `onAttempt` is called after each attempt.
 * @throws {StoreUnavailableError} of the last attempt, and any other error at once
 */
export async function retryWhileUnavailable<Result>(
  work: () => Promise<Result>,
  onAttempt: () => void = () => {},
): Promise<Result> {
  const deadline = performance.now() + MAX_STORE_OUTAGE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() > deadline) throw error;
    } finally {
      onAttempt();
    }
    await new Promise((resolve) => setTimeout(resolve, OUTAGE_PAUSE_MS));
  }
}
