/**
 * Slowing down whoever guesses: after a few failures each further attempt has to wait, twice as long each time. Counted
 * in the store, so that attempts at several instances are one series.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { createAllowance } from "../../http/network/allowance.ts";
import { compareAndSet, putIfAbsent, type Store } from "../../store/store.ts";
import { type Attempts, attemptsKey } from "../records.ts";

/** One series of attempts, and how patient we are with it. */
export interface Series {
  /** What is counted: `login_account`, say, and whose. Kept as a digest. */
  readonly kind: string;
  readonly of: string;
  /** Failures that cost no wait. */
  readonly free: number;
  /** Seconds of the longest wait. */
  readonly longest: number;
  /** Others' attempts are in it too: a good one takes back its own count, and no more. */
  readonly shared?: boolean;
}

export interface Throttle {
  /**
   * Counts an attempt in every series before it is made, so that many at once are many. Gives the seconds to wait, and
   * then counts nothing; 0 when it may be made.
   */
  begin(series: readonly Series[]): Promise<number>;
  /** The attempt was a good one: a series of nobody else's starts again. */
  succeeded(series: readonly Series[]): Promise<void>;
}

/** How long a series is remembered after its last attempt, in milliseconds. */
const MEMORY = 60 * 60 * 1000;
/** Lost races after which the answer is to wait: there are that many others at this very moment. */
const TRIES = 20;
/** Of one series; and of those that begin within their lifetime, past which new ones are not counted. */
const RECORD_BYTES = 256;
const NEW_SERIES = {
  perNetwork: 16 * 1024 * 1024,
  overall: 16 * 1024 * 1024,
  windowMs: 2 * MEMORY,
};

export function createThrottle(store: Store, now: () => number): Throttle {
  const room = createAllowance({ ...NEW_SERIES, now });
  const keyOf = ({ kind, of }: Series) => attemptsKey(kind, secretDigest(of));

  const waitOf = (attempts: Attempts | undefined) =>
    Math.max(0, Math.ceil(((attempts?.until ?? 0) - now()) / 1000));

  /** Counts an attempt; the seconds to wait when somebody else's came first. */
  async function count(series: Series): Promise<number> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const entry = await store.get<Attempts>(keyOf(series));
      const wait = waitOf(entry?.value);
      if (wait > 0) return wait;
      const made = (entry?.value.made ?? 0) + 1;
      const next = made < series.free ? 0 : Math.min(series.longest, 2 ** Math.min(made - series.free, 30));
      const value: Attempts = { made, until: now() + next * 1000 };
      const expires = now() + MEMORY;
      const done = entry
        ? await compareAndSet(store, entry.key, entry.version, value, expires)
        : room.take(undefined, RECORD_BYTES) > 0 || await putIfAbsent(store, keyOf(series), value, expires);
      if (done) return 0;
    }
    return 1;
  }

  async function takeBack(series: Series): Promise<void> {
    const entry = await store.get<Attempts>(keyOf(series));
    if (!entry) return;
    const made = entry.value.made - 1;
    // Losing this race leaves one count too many, which costs nobody a wait.
    await compareAndSet(store, entry.key, entry.version, {
      made,
      until: made < series.free ? 0 : entry.value.until,
    }, now() + MEMORY);
  }

  return {
    async begin(all) {
      const found = await Promise.all(all.map((series) => store.get<Attempts>(keyOf(series))));
      const wait = Math.max(0, ...found.map((entry) => waitOf(entry?.value)));
      if (wait > 0) return wait;
      return Math.max(0, ...await Promise.all(all.map(count)));
    },
    async succeeded(all) {
      const own = all.filter(({ shared }) => !shared);
      if (own.length > 0) await store.commit({ remove: own.map(keyOf) });
      for (const series of all.filter(({ shared }) => shared)) await takeBack(series);
    },
  };
}
