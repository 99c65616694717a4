/**
 * A cache in front of any store, for reads that allow it (`get(key, { cached: true })`): token checks without a trip to
 * the engine, and never a revoked token after its revocation was acknowledged, on any instance.
 *
 * How: not the reader waits but who revokes. An answer from memory is at most `lifetime` old, counted from before its
 * read began. A commit that removes a record of a cached kind is acknowledged only `lifetime` after the engine did it.
 * So when the acknowledgement comes, every copy was read before the commit and is too old, on every instance, without
 * messages between them and without clocks that agree: each instance only measures a span of its own.
 *
 * The first instance writes the lifetime into the store (`cache_lifetime`). All wait as long as it says, and none keeps
 * a copy for longer: instances with other settings, or with none (the command line), break nothing.
 *
 * @module
 */
import { encodeKey } from "../key.ts";
import { LOST_RACE, retryLostRaces } from "../retry.ts";
import { type Commit, type Entry, type GetOptions, type Key, putIfAbsent, type Store } from "../store.ts";
import { timerDelay } from "../timer.ts";
import { UnderWay } from "./under_way.ts";

/** Which commits of a kind wait: those that remove a record, or all that change one. */
export type Waits = "removal" | "change";

export interface LayeredOptions {
  /** How long an answer may come from memory, in milliseconds; 0 keeps nothing but waits for those who do. @default 1000 */
  readonly lifetime?: number;
  /** The kinds that may be answered from memory. @default tokens, grants, clients, users and API keys */
  readonly kinds?: Readonly<Record<string, Waits>>;
  /** How many records are kept. @default 20000 */
  readonly limit?: number;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
}

/** A refresh replaces its grant, and nobody need wait for that: a token is good as long as there is a grant. */
const KINDS: Readonly<Record<string, Waits>> = {
  access_token: "removal",
  grant: "removal",
  client: "change",
  user: "removal",
  profile: "removal",
  api_key: "change",
};
const LIFETIME: Key = ["cache_lifetime"];

/** When something began, by two clocks: one stands still while the machine sleeps, the other may be set. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

interface Copy {
  readonly began: Moment;
  readonly entry: Promise<Entry | undefined>;
}

/** The store with a cache before it. */
export function layeredStore(store: Store, options: LayeredOptions = {}): Store {
  const { lifetime: wanted = 1000, kinds = KINDS, limit = 20_000, now = () => store.now?.() ?? Date.now() } =
    options;
  const copies = new Map<string, Copy>();
  const underWay = new UnderWay();
  let known: number | undefined;

  /** How long everybody waits. The first who keeps copies decides; until then it is `undefined`. */
  async function settle(): Promise<number | undefined> {
    return known ??= await retryLostRaces(async () => {
      const entry = await store.get<number>(LIFETIME);
      if (entry || wanted === 0) return entry?.value;
      return await putIfAbsent(store, LIFETIME, wanted) ? wanted : LOST_RACE;
    });
  }

  async function getCached(key: Key): Promise<Entry | undefined> {
    const lifetime = Math.min(known ?? await settle() ?? 0, wanted);
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
    // What is not there is not kept: it may be there in a moment. Callers who wait for this read share it.
    copy.entry.then((entry) => entry === undefined && forget(), forget);
  }

  /** A commit while nobody keeps copies, which must still be so when it is done. */
  async function commitAlone(commit: Commit): Promise<boolean> {
    const check = [...commit.check ?? [], { key: LIFETIME, version: null }];
    if (await store.commit({ ...commit, check })) return true;
    return await settle() === undefined ? false : await commitAndWait(commit);
  }

  /** A commit of which copies may be held: acknowledged when none can be served any more. */
  async function commitAndWait(commit: Commit): Promise<boolean> {
    const lifetime = known ?? await settle();
    if (lifetime === undefined) return await commitAlone(commit);
    if (!await store.commit(commit)) return false;
    const done = moment();
    for (const key of [...commit.remove ?? [], ...(commit.set ?? []).map((put) => put.key)]) {
      copies.delete(encodeKey(key));
    }
    // A timer may fire early by a fraction of a millisecond.
    for (let left = lifetime; left > 0; left = lifetime - (performance.now() - done.monotonic)) {
      await new Promise((resolve) => setTimeout(resolve, timerDelay(left + 1)));
    }
    return true;
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
      underWay.begin();
      try {
        return await commitAndWait(commit);
      } finally {
        underWay.end();
      }
    },
    list: (prefix, options) => store.list(prefix, options),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    async close() {
      await underWay.close();
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
  // Nobody holds a copy of what was not there.
  const fresh = new Set(check.filter(({ version }) => version === null).map(({ key }) => encodeKey(key)));
  return changes.some(({ key }) => !fresh.has(encodeKey(key)));
}

function moment(): Moment {
  return { monotonic: performance.now(), wall: Date.now() };
}

/** Milliseconds since then, by whichever clock says more; for ever, when the clock was set back. */
function age({ monotonic, wall }: Moment): number {
  const byWall = Date.now() - wall;
  return byWall < 0 ? Infinity : Math.max(byWall, performance.now() - monotonic);
}
