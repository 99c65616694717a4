/**
 * Limits guessing: after some attempts each further one has to wait, twice as long each time. Attempts are counted in
 * the store, for all instances together.
 *
 * @module
 */
import { secretDigest } from "../../../crypto/secret.ts";
import { createAllowance } from "../../../http/network/allowance.ts";
import { compareAndSet, putIfAbsent, type Store } from "../../../store/store.ts";
import { type Attempts, attemptsKey } from "../../records/session_record.ts";
import { blockOf, sharedName } from "./shared_attempts.ts";

/** Attempts that are counted together, and their limit. */
export interface AttemptSeries {
  /** What is counted, such as `user_code`, and for which user, network or client. Stored as a digest. */
  readonly kind: string;
  readonly subject: string;
  /** Attempts before the first wait. */
  readonly freeAttempts: number;
  readonly maxWaitSeconds: number;
  /** Whether it counts attempts of several users: a successful one then takes back only its own count. */
  readonly isShared?: boolean;
}

export interface Throttle {
  /**
   * Counts an attempt in every series before it is made, so that concurrent attempts count.
   * @returns 0 when it may be made; else the seconds to wait, and nothing is counted
   */
  begin(series: readonly AttemptSeries[]): Promise<number>;
  /** The attempt was successful: resets each series that is not shared. Takes the objects that `begin` was given. */
  succeeded(series: readonly AttemptSeries[]): Promise<void>;
}

/** After the last attempt of a series. */
const RETENTION_MS = 60 * 60 * 1000;
/** Lost races after which an attempt has to wait: so many others are concurrent. */
const MAX_TRIES = 20;
const RECORD_BYTES = 256;
/** Storage of the series of one kind that begin within a window, and of all. Beyond it new series share records. */
const NEW_SERIES = {
  perNetwork: 3 * 1024 * 1024,
  overall: 13.5 * 1024 * 1024,
  windowMs: 2 * RETENTION_MS,
};
/** For each kind. */
const SHARED_RECORDS = 1024;

/** Clocks of instances may differ by this. */
const MAX_SKEW_SECONDS = 60;

/** How long to wait; not at all when no wait is that long: the clock was ahead then, and was set back. */
export function secondsUntil(until: number, now: number, maxWaitSeconds: number): number {
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  return seconds > maxWaitSeconds + MAX_SKEW_SECONDS ? 0 : seconds;
}

export function createThrottle(store: Store, now: () => number): Throttle {
  const allowance = createAllowance({ ...NEW_SERIES, now });
  const keyOf = ({ kind, subject }: AttemptSeries) => attemptsKey(kind, secretDigest(subject));
  const sharedKeyOf = ({ kind, subject }: AttemptSeries) =>
    attemptsKey(kind, sharedName(blockOf(subject), SHARED_RECORDS));
  /** Whether the last attempt of a series began a record of its own, or was counted in a shared one. */
  const places = new WeakMap<AttemptSeries, "new" | "shared">();

  const waitOf = (attempts: Attempts | undefined, { maxWaitSeconds }: AttemptSeries) =>
    secondsUntil(attempts?.until ?? 0, now(), maxWaitSeconds);

  /** Counts an attempt. @returns the seconds to wait when a concurrent one came first */
  async function count(series: AttemptSeries): Promise<number> {
    let key = keyOf(series);
    places.delete(series);
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const entry = await store.get<Attempts>(key);
      if (!entry && !places.has(series)) {
        const isFull = allowance.take(series.kind, RECORD_BYTES) > 0;
        places.set(series, isFull ? "shared" : "new");
        if (isFull) {
          key = sharedKeyOf(series);
          continue;
        }
      }
      const wait = waitOf(entry?.value, series);
      if (wait > 0) return wait;
      const made = (entry?.value.made ?? 0) + 1;
      const next = made < series.freeAttempts
        ? 0
        : Math.min(series.maxWaitSeconds, 2 ** Math.min(made - series.freeAttempts, 30));
      const value: Attempts = { made, until: now() + next * 1000 };
      const expires = now() + RETENTION_MS;
      const done = entry
        ? await compareAndSet(store, entry.key, entry.version, value, expires)
        : await putIfAbsent(store, key, value, expires);
      if (done) return 0;
    }
    return 1;
  }

  async function takeBack(series: AttemptSeries): Promise<void> {
    const key = places.get(series) === "shared" ? sharedKeyOf(series) : keyOf(series);
    const entry = await store.get<Attempts>(key);
    if (!entry) return;
    const made = entry.value.made - 1;
    // Losing this race leaves one count too many, which is harmless.
    await compareAndSet(store, entry.key, entry.version, {
      made,
      until: made < series.freeAttempts ? 0 : entry.value.until,
    }, now() + RETENTION_MS);
  }

  return {
    async begin(all) {
      const found = await Promise.all(all.map((series) => store.get<Attempts>(keyOf(series))));
      const wait = Math.max(0, ...found.map((entry, i) => waitOf(entry?.value, all[i]!)));
      if (wait > 0) return wait;
      return Math.max(0, ...await Promise.all(all.map(count)));
    },
    async succeeded(all) {
      const isShared = (series: AttemptSeries) => series.isShared || places.get(series) === "shared";
      const own = all.filter((series) => !isShared(series));
      if (own.length > 0) await store.commit({ remove: own.map(keyOf) });
      for (const series of own) {
        if (places.get(series) === "new") allowance.giveBack(series.kind, RECORD_BYTES);
        places.delete(series);
      }
      for (const series of all.filter(isShared)) await takeBack(series);
    },
  };
}
