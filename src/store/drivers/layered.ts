/**
 * A cache in front of any store, for reads that allow it (`get(key, { cached: true })`): most token checks need no round
 * trip to the engine, and still no instance accepts a token after its revocation was acknowledged.
 *
 * How: the revocation waits, not the reads. A cached record is used for at most `lifetime`, counted from before its read
 * began. A commit that removes a record of a cached kind is acknowledged `lifetime` after the engine did it. So at the
 * acknowledgement every copy, on every instance, was read before the commit and has expired. This needs neither messages
 * between instances nor synchronized clocks, because each instance only measures durations.
 *
 * The first instance writes the lifetime into the store (`cache_lifetime`). All instances wait that long, and none keeps a
 * copy for longer, so instances with other settings, or without a cache (the command line), are safe too.
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../../options/option_check.ts";
import { encodeKey } from "../key.ts";
import { LOST_RACE, retryLostRaces } from "../retry.ts";
import {
  type Commit,
  type Entry,
  type GetOptions,
  type Key,
  putIfAbsent,
  type Store,
  timeOf,
} from "../store.ts";
import { timerDelay } from "../../timer.ts";
import { PendingCalls } from "./pending_calls.ts";
export type { Store } from "../store.ts";

/** The commits of a kind that wait: those that remove a record, or all that change one. */
export type Waits = "removal" | "change";

/** Options of the cache. */
export interface LayeredOptions {
  /** How long a copy is used, in milliseconds. 0 caches nothing, but still waits for other instances. @default 1000 */
  readonly lifetime?: number;
  /** The kinds of records that are cached. @default tokens, grants, clients, users and API keys */
  readonly kinds?: Readonly<Record<string, Waits>>;
  /** The maximum number of cached records. @default 20000 */
  readonly limit?: number;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
}

const NAMES: Names<LayeredOptions> = {
  lifetime: "number",
  kinds: "object",
  limit: "number",
  now: "function",
};

/** A refresh replaces the grant without waiting: an access token is valid as long as its grant exists. */
const KINDS: Readonly<Record<string, Waits>> = {
  access_token: "removal",
  grant: "removal",
  client: "change",
  user: "removal",
  profile: "removal",
  api_key: "change",
};
const LIFETIME: Key = ["cache_lifetime"];

/** A moment by two clocks: the monotonic one stops while the machine sleeps, the other one may be set. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

interface Copy {
  readonly began: Moment;
  readonly entry: Promise<Entry | undefined>;
}

/** Creates the store with a cache in front of it. */
export function layeredStore(store: Store, options: LayeredOptions = {}): Store {
  checkNames("layeredStore", options, NAMES);
  const { lifetime: wanted = 1000, kinds = KINDS, limit = 20_000, now = () => timeOf(store) } = options;
  checkWhole("layeredStore.lifetime", wanted, 0);
  checkWhole("layeredStore.limit", limit, 1);
  const copies = new Map<string, Copy>();
  const pending = new PendingCalls();
  let known: number | undefined;

  /** How long all instances wait. The first instance with a cache sets it; `undefined` until then. */
  async function readLifetime(): Promise<number | undefined> {
    return known ??= await retryLostRaces(async () => {
      const entry = await store.get<number>(LIFETIME);
      if (entry || wanted === 0) return entry?.value;
      return await putIfAbsent(store, LIFETIME, wanted) ? wanted : LOST_RACE;
    });
  }

  async function getCached(key: Key): Promise<Entry | undefined> {
    const lifetime = Math.min(known ?? await readLifetime() ?? 0, wanted);
    const id = encodeKey(key);
    const copy = copies.get(id);
    if (copy && age(copy.began) < lifetime) {
      const entry = await copy.entry;
      if (!entry || entry.expires === undefined || entry.expires > now()) return entry;
    }
    const began = moment();
    const entry = store.get(key);
    if (lifetime > 0) remember(id, { began, entry });
    return entry;
  }

  function remember(id: string, copy: Copy): void {
    copies.delete(id);
    copies.set(id, copy);
    if (copies.size > limit) copies.delete(copies.keys().next().value!);
    const forget = () => {
      if (copies.get(id) === copy) copies.delete(id);
    };
    // An absent record is not cached, because it may be set at any moment. Concurrent calls share this read.
    copy.entry.then((entry) => entry === undefined && forget(), forget);
  }

  /** Commits under the condition that no instance has a cache yet. */
  async function commitWithoutCaches(commit: Commit): Promise<boolean> {
    const check = [...commit.check ?? [], { key: LIFETIME, version: null }];
    if (await store.commit({ ...commit, check })) return true;
    return await readLifetime() === undefined ? false : await commitAndWait(commit);
  }

  /** Commits, and resolves when no instance can use a copy of the changed records any more. */
  async function commitAndWait(commit: Commit): Promise<boolean> {
    const lifetime = known ?? await readLifetime();
    if (lifetime === undefined) return await commitWithoutCaches(commit);
    let done: boolean | undefined;
    try {
      return done = await store.commit(commit);
    } finally {
      // Also after a failure: only the response may be lost, and a retry then finds nothing to remove.
      if (done !== false) await waitForCopies(commit, lifetime);
    }
  }

  async function waitForCopies({ set = [], remove = [] }: Commit, lifetime: number): Promise<void> {
    const began = performance.now();
    for (const key of [...remove, ...set.map((put) => put.key)]) copies.delete(encodeKey(key));
    // Timers may fire a fraction of a millisecond early.
    for (let left = lifetime; left > 0; left = lifetime - (performance.now() - began)) {
      await new Promise((resolve) => setTimeout(resolve, timerDelay(left + 1)));
    }
  }

  const layered: Store = {
    get guarantees() {
      return store.guarantees;
    },
    ...(store.now && { now: () => store.now!() }),
    get<Value>(key: Key, options?: GetOptions): Promise<Entry<Value> | undefined> {
      if (!options?.cached || !Object.hasOwn(kinds, key[0]!)) return store.get<Value>(key);
      return getCached(key) as Promise<Entry<Value> | undefined>;
    },
    async commit(commit) {
      if (!mustWait(commit, kinds)) return await store.commit(commit);
      pending.begin();
      try {
        return await commitAndWait(commit);
      } finally {
        pending.end();
      }
    },
    list: (prefix, options) => store.list(prefix, options),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    async close() {
      await pending.close();
      await store.close();
    },
  };
  return layered;
}

function mustWait(
  { check = [], set = [], remove = [] }: Commit,
  kinds: Readonly<Record<string, Waits>>,
): boolean {
  if (remove.some((key) => Object.hasOwn(kinds, key[0]!))) return true;
  const changes = set.filter(({ key, isSameValue }) =>
    !isSameValue && Object.hasOwn(kinds, key[0]!) && kinds[key[0]!] === "change"
  );
  if (changes.length === 0) return false;
  // No instance has a copy of a record that did not exist.
  const created = new Set(check.filter(({ version }) => version === null).map(({ key }) => encodeKey(key)));
  return changes.some(({ key }) => !created.has(encodeKey(key)));
}

function moment(): Moment {
  return { monotonic: performance.now(), wall: Date.now() };
}

/** Milliseconds since then, by the clock that advanced more; `Infinity` when the system clock was set back. */
function age({ monotonic, wall }: Moment): number {
  const byWall = Date.now() - wall;
  return byWall < 0 ? Infinity : Math.max(byWall, performance.now() - monotonic);
}
