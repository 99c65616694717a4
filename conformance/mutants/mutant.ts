/**
 * What a mutant is: Trivet with one fault, which sits before it (requests), behind it (answers), or below it (the
 * store), and the vectors that have to notice.
 *
 * @module
 */
import type { Commit, Entry, Store } from "../../src/store/store.ts";
import type { LineFault } from "./mcp/stdio_ground.ts";

export type Handler = (request: Request) => Promise<Response>;

/** Puts a fault before or behind a server. */
export interface Wrap {
  (next: Handler): Handler;
  /** The only path at which the fault shows. Vectors that never ask there need not be asked. */
  readonly path?: string;
}

export interface Mutant {
  /** Folder and words, as a vector's name. */
  readonly name: string;
  /** What the server does wrong. */
  readonly fault: string;
  /** Vectors that have to fail: each asks for what is wrong here. */
  readonly breaks: readonly string[];
  /** Vectors, or beginnings of their names, that may turn red besides, under the reason why. */
  readonly mayBreak?: Readonly<Record<string, readonly string[]>>;
  /** Why vectors may come to `setup`: the fault takes from them what they need to ask their question. */
  readonly stops?: string;
  /** Called once for each run, so that a fault may remember. */
  readonly wrap?: Wrap;
  readonly store?: (store: Store) => Store;
  /** The server's clock stands still. */
  readonly isTimeless?: boolean;
  /** The server has OpenAI's dialect of the Skills API. */
  readonly isOpenai?: boolean;
  /** The server is on standard input and output, with this fault for each process. */
  readonly lines?: () => LineFault;
}

/** Changes what is done before it is done. `undefined`: it is not done, and said to have been. */
export function faultyCommits(change: (commit: Commit) => Commit | undefined): (store: Store) => Store {
  return (store) => ({
    ...bound(store),
    async commit(commit) {
      const changed = change(commit);
      return changed === undefined || await store.commit(changed);
    },
  });
}

/** Changes what records say when they are read. */
export function faultyReads(change: (entry: Entry) => Entry): (store: Store) => Store {
  return (store) => ({
    ...bound(store),
    async get<Value>(key: Entry["key"]): Promise<Entry<Value> | undefined> {
      const entry = await store.get(key);
      return entry && change(entry) as Entry<Value>;
    },
  });
}

function bound(store: Store): Store {
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
