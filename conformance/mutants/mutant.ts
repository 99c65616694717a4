/**
 * What a mutant is: Trivet with one seeded fault, in its requests, its responses or its store, and the vectors that must
 * fail on it.
 *
 * @module
 */
import type { Commit, Entry, Store } from "../../src/store/store.ts";
import type { LineFault } from "./mcp/stdio_target.ts";

export type Handler = (request: Request) => Promise<Response>;

/** Wraps a server with a fault in its requests or responses. */
export interface Wrap {
  (next: Handler): Handler;
  /** The only path that the fault changes. Vectors that never request it are not run. */
  readonly path?: string;
}

export interface Mutant {
  /** Suite and words, like the name of a vector. */
  readonly name: string;
  /** What the server does wrong. */
  readonly fault: string;
  /** Vectors that must fail on this mutant. */
  readonly killedBy: readonly string[];
  /** Vectors, or prefixes of their names, that may fail too, keyed by the reason. */
  readonly mayFail?: Readonly<Record<string, readonly string[]>>;
  /** Matches the reasons of failures that any vector may have, keyed by why: the fault changes just this. */
  readonly mayFailWith?: Readonly<Record<string, RegExp>>;
  /** Why vectors may stop in `setup`: the fault breaks a step that they need first. */
  readonly preventsSetup?: string;
  /** Called once for each run, so that a fault can keep state. */
  readonly wrap?: Wrap;
  readonly store?: (store: Store) => Store;
  /** The server's clock does not advance. */
  readonly isClockStopped?: boolean;
  /** The server uses OpenAI's dialect of the Skills API. */
  readonly isOpenai?: boolean;
  /** The server has the FAPI 2.0 Security Profile. */
  readonly isFapi?: boolean;
  /** The server runs over stdio, with a new fault for each process. */
  readonly stdio?: () => LineFault;
}

/** Changes commits before the store makes them. `undefined` reports success without committing. */
export function changeCommits(change: (commit: Commit) => Commit | undefined): (store: Store) => Store {
  return (store) => ({
    ...bindStore(store),
    async commit(commit) {
      const changed = change(commit);
      return changed === undefined || await store.commit(changed);
    },
  });
}

/** Changes records when they are read. */
export function changeReads(change: (entry: Entry) => Entry): (store: Store) => Store {
  return (store) => ({
    ...bindStore(store),
    async get<Value>(key: Entry["key"]): Promise<Entry<Value> | undefined> {
      const entry = await store.get(key);
      return entry && change(entry) as Entry<Value>;
    },
  });
}

function bindStore(store: Store): Store {
  return {
    guarantees: store.guarantees,
    get: (key, options) => store.get(key, options),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => store.commit(commit),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
    ...(store.now && { now: () => store.now!() }),
  };
}
