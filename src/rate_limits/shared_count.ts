/**
 * Counts the requests of callers under one limit, for all instances on one store. An instance counts in its memory and
 * reports a portion of the limit at a time, so most requests cost no store call. Instances that do not know each other's
 * last portions allow too much: at most one portion for each instance.
 *
 * @module
 */
import { secretDigest } from "../crypto/secret.ts";
import { createAllowance } from "../http/network/allowance.ts";
import { SlidingSum, type Slot, SLOTS } from "../http/network/sliding_sum.ts";
import { LOST_RACE, retryLostRaces } from "../store/retry.ts";
import type { Key, Store } from "../store/store.ts";

/** What is counted: at most `requests`, or an amount, within a window. */
export interface CountedLimit {
  readonly name: string;
  readonly requests: number;
  readonly seconds: number;
}

/** A portion is this part of the limit: whole requests, unless the limit has fewer. */
const PORTIONS = 20;
/** Callers in memory. Beyond it the one that came longest ago is forgotten, with at most a portion that was not reported. */
export const MAX_CALLERS = 20_000;
/** What a record takes with its key, at most. */
const RECORD_BYTES = 512;
/** Storage of the records that begin within a window, by one instance. Beyond it callers are counted in memory only. */
const MAX_NEW_RECORDS_BYTES = 64 * 1024 * 1024;
/** After a failure of the store, each instance counts by itself for this time. */
const STORE_PAUSE_MS = 5000;

export const rateLimitKey = (limit: string, digest: string): Key => ["rate_limit", limit, digest];

/** One caller under one limit, as this instance knows it. */
export interface CountedCaller {
  readonly name: string;
  /** What was reported to the store, by all instances, when this one last did. */
  shared: SlidingSum;
  /** What this instance has not reported. */
  own: SlidingSum;
  /** The report under way. */
  reporting: Promise<void> | undefined;
  /** Refused requests that no event has reported, and when the last event was (`performance.now()`). */
  refused: number;
  reportedAt: number;
}

export interface SharedCount<Each extends CountedLimit = CountedLimit> {
  readonly limit: Each;
  /** The caller with this name. */
  find(name: string): CountedCaller;
  /** Requests that the caller may still make now. */
  countRemaining(caller: CountedCaller): number;
  /** Counts a request, or an amount. Resolves when the portion that it completes is reported. */
  add(caller: CountedCaller, amount?: number): Promise<void> | undefined;
  /** Seconds until the caller may make one request more than now, or use an amount; at least 1. */
  findReset(caller: CountedCaller, amount?: number): number;
}

/** What a count needs of the server. */
export interface CountOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A report failed; the count goes on in memory. */
  readonly onFailure: (error: unknown) => void;
}

/** Starts to count under a limit. */
export function createSharedCount<Each extends CountedLimit>(
  limit: Each,
  { store, now, onFailure }: CountOptions,
): SharedCount<Each> {
  const { name, requests, seconds } = limit;
  const windowMs = seconds * 1000;
  const slotMs = windowMs / SLOTS;
  const portion = Math.max(Math.min(1, requests / PORTIONS), Math.floor(requests / PORTIONS));
  // Instances with another limit of this name count by themselves.
  const kind = `${name}=${requests}/${seconds}s`;
  const callers = new Map<string, CountedCaller>();
  const room = createAllowance({
    perNetwork: MAX_NEW_RECORDS_BYTES,
    overall: MAX_NEW_RECORDS_BYTES,
    windowMs,
    now,
  });
  const slot = (): number => Math.floor(now() / slotMs);
  let pausedUntil = -Infinity;

  function countUsed({ shared, own }: CountedCaller, at: number): number {
    return shared.at(at) + own.at(at);
  }

  /** Adds what this instance counted to the record of all. */
  async function report(caller: CountedCaller): Promise<void> {
    const { shared, own } = caller;
    const batch = own.slots;
    // Counted on while it is written. Others of this instance may come meanwhile where requests are isolated.
    shared.merge(batch);
    caller.own = new SlidingSum();
    try {
      const key = rateLimitKey(kind, secretDigest(caller.name));
      caller.shared = await retryLostRaces(async () => {
        const entry = await store.get<readonly Slot[]>(key);
        if (!entry && room.take(undefined, RECORD_BYTES) > 0) return shared;
        const sum = new SlidingSum(entry?.value);
        sum.merge(batch);
        sum.at(slot());
        const done = await store.commit({
          check: [{ key, version: entry?.version ?? null }],
          set: [{
            key,
            value: sum.slots.map(([at, amount]) => [at, amount]),
            expires: now() + windowMs + slotMs,
          }],
        });
        return done ? sum : LOST_RACE;
      });
    } catch (error) {
      pausedUntil = performance.now() + STORE_PAUSE_MS;
      shared.merge(batch, -1);
      caller.own.merge(batch);
      onFailure(error);
    } finally {
      caller.reporting = undefined;
    }
  }

  return {
    limit,
    find(name) {
      const known = callers.get(name);
      // A Map keeps insertion order, so the first entry is the least recently active.
      if (known) callers.delete(name);
      const caller: CountedCaller = known ?? {
        name,
        shared: new SlidingSum(),
        own: new SlidingSum(),
        reporting: undefined,
        refused: 0,
        reportedAt: -Infinity,
      };
      callers.set(name, caller);
      if (callers.size > MAX_CALLERS) callers.delete(callers.keys().next().value!);
      return caller;
    },
    countRemaining: (caller) => Math.max(0, requests - countUsed(caller, slot())),
    add(caller, amount = 1) {
      const at = slot();
      caller.own.add(at, amount);
      if (caller.own.at(at) < portion || performance.now() < pausedUntil) return undefined;
      return caller.reporting = report(caller);
    },
    findReset(caller, amount = 1) {
      const at = slot();
      const { shared, own } = caller;
      const needed = countUsed(caller, at) - requests + amount;
      let free = Math.min(shared.slotWhenFree(1, at), own.slotWhenFree(1, at));
      if (needed > 1) {
        const all = new SlidingSum(shared.slots);
        all.merge(own.slots);
        free = all.slotWhenFree(needed, at);
      }
      return Math.max(1, Math.ceil((free * slotMs - now()) / 1000));
    },
  };
}
