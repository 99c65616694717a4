/**
 * Counts how often each level of each skill went to a model, and its tokens. Counts are kept in memory and written to the
 * store about once a second. While the store is unavailable they wait, and one whose write had an unknown outcome may count
 * twice. An instance that stops may lose what waits.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import { pauseBefore } from "../../store/retry.ts";
import { type Entry, type Store, StoreClosedError, StoreUnavailableError } from "../../store/store.ts";
import type { Disclosure } from "../disclosure/disclosure.ts";
import { type LevelUsage, type SkillUsage, skillUsageKey } from "../records.ts";

export interface Usage {
  count(disclosure: Disclosure): void;
  /** Writes pending counts now. */
  flush(): Promise<void>;
}

/** Delay from a count to its write. */
const WRITE_DELAY_MS = 1000;
/** Time after which a write counts as lost: on workerd it never settles when its request has ended. */
const MAX_WRITE_MS = 30_000;
/** Records of one commit. */
const RECORDS_PER_COMMIT = 100;
const MAX_TRIES = 5;
/** Skills with pending counts; further skills are not counted while the store is unavailable. */
const MAX_PENDING_SKILLS = 10_000;
const LEVELS = { 1: "metadata", 2: "instructions", 3: "resources" } as const;
const NONE: LevelUsage = { count: 0, tokens: 0 };

/** Counters in a store. */
export function createUsage(store: Store, now: () => number, observe: Observe): Usage {
  let waiting = new Map<string, Pending>();
  let asked = -Infinity;
  let writing: Promise<void> | undefined;
  let begun = 0;

  async function write(): Promise<void> {
    const all = [...waiting.values()];
    waiting = new Map();
    for (let at = 0, end = 0; at < all.length; at = end) {
      end = at + RECORDS_PER_COMMIT;
      try {
        if (await add(store, all.slice(at, end))) continue;
        // Another instance writes the same skills: write each on its own.
        for (; at < Math.min(end, all.length); at++) await add(store, [all[at]!]);
      } catch (error) {
        if (error instanceof StoreUnavailableError) {
          observe({ type: "store_unavailable", where: "skills", error });
          // No timer tries again, as it would keep a process that ends: the next count does, or `flush()`.
          return all.slice(at).forEach(wait);
        }
        // An app may close its store without `flush()`: its last counts are lost, which is no fault of the server.
        if (!(error instanceof StoreClosedError)) observe({ type: "fault", where: "skills", error });
      }
    }
  }

  /** Adds counts to those that wait for a write. */
  function wait(more: Pending): void {
    const key = JSON.stringify([more.workspace, more.id]);
    const before = waiting.get(key);
    if (before) {
      before.last = Math.max(before.last, more.last);
      before.levels = addLevels(before.levels, more.levels);
    } else if (waiting.size < MAX_PENDING_SKILLS) waiting.set(key, more);
  }

  const usage: Usage = {
    count({ workspace = "", id, name, level, tokens }) {
      wait({ workspace, id, name, last: now(), levels: { [LEVELS[level]]: { count: 1, tokens } } });
      // On runtimes where timers end with their request, a later count starts the write.
      if (now() - asked < 2 * WRITE_DELAY_MS) return;
      asked = now();
      setTimeout(() => void usage.flush(), WRITE_DELAY_MS);
    },
    flush() {
      asked = -Infinity;
      if (writing && now() - begun < MAX_WRITE_MS) return writing;
      begun = now();
      const current = write().finally(() => {
        if (writing === current) writing = undefined;
      });
      return writing = current;
    },
  };
  return usage;
}

interface Pending {
  readonly workspace: string;
  readonly id: string;
  readonly name: string;
  last: number;
  levels: Levels;
}

type Levels = Partial<SkillUsage["levels"]>;

/** `false` when every try lost against another writer. */
async function add(store: Store, some: readonly Pending[]): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (tries > 0) await pauseBefore(tries);
    const keys = some.map(({ workspace, id }) => skillUsageKey(workspace, id));
    const before = await Promise.all(keys.map((key) => store.get<SkillUsage>(key)));
    const done = await store.commit({
      check: keys.map((key, i) => ({ key, version: before[i]?.version ?? null })),
      set: keys.map((key, i) => ({ key, value: sum(before[i], some[i]!) })),
    });
    if (done) return true;
  }
  return false;
}

function sum(before: Entry<SkillUsage> | undefined, { name, last, levels }: Pending): SkillUsage {
  return {
    name,
    since: before?.value.since ?? last,
    last: Math.max(last, before?.value.last ?? 0),
    levels: addLevels(before?.value.levels, levels),
  };
}

function addLevels(some: Levels = {}, more: Levels): SkillUsage["levels"] {
  const add = (a = NONE, b = NONE): LevelUsage => ({ count: a.count + b.count, tokens: a.tokens + b.tokens });
  return {
    metadata: add(some.metadata, more.metadata),
    instructions: add(some.instructions, more.instructions),
    resources: add(some.resources, more.resources),
  };
}
