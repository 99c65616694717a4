/**
 * The store in Cloudflare D1. A commit is one batch, which D1 runs as one transaction. Reads go to the primary unless the
 * binding is a session with another constraint. `watch` reports commits of its own isolate at once, others by polling.
 *
 * ```ts ignore
 * export default toWorker((env: { DB: D1Database }) => createTrivet({ issuer, store: d1Store(env.DB) }));
 * ```
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../../options/option_check.ts";
import {
  changedBy,
  CHECK_FAILED,
  commitStatements,
  formatAnswer,
  formatStatement,
  LAST_VERSION,
  type Row,
  SCHEMA,
  selectOne,
  selectPage,
  type Statement,
  sweepSome,
  toEntry,
} from "./cloudflare_rows.ts";
import { ensureFormat, FORMAT_KEY, type FormatOptions, StoreFormatError } from "../format.ts";
import { SWEEP_BATCH_RECORDS, SweepGuard } from "../sweep_guard.ts";
import {
  type Commit,
  type Entry,
  type Guarantees,
  type Key,
  type ListOptions,
  type Store,
  StoreUnavailableError,
} from "../store.ts";
import { timerDelay } from "../../timer.ts";
import { PendingCalls } from "./pending_calls.ts";
import { Watchers } from "../watchers.ts";
export type { Store } from "../store.ts";

/** The part of a D1 binding that is used. */
export interface D1Binding {
  prepare(sql: string): D1Statement;
  batch(statements: D1Statement[]): Promise<D1Answer[]>;
}

/** A prepared statement of D1. */
export interface D1Statement {
  bind(...parameters: unknown[]): D1Statement;
  all(): Promise<D1Answer>;
}

/** What D1 answers to a statement. */
export interface D1Answer {
  readonly results: unknown[];
  readonly meta: { readonly changes?: number };
}

/** Options of the store in D1. */
export interface D1Options extends FormatOptions {
  /** How often a watcher polls for commits of other isolates, in milliseconds. @default 1000 */
  readonly pollEvery?: number;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
  /** Milliseconds since any moment, for tests. @default `now`, else `performance.now()` */
  readonly monotonic?: () => number;
}

const NAMES: Names<D1Options> = {
  allowOlder: "boolean",
  pollEvery: "number",
  now: "function",
  monotonic: "function",
};

/** Opens a store. Its tables are created at the first use. */
export function d1Store(database: D1Binding, options: D1Options = {}): Store {
  checkNames("d1Store", options, NAMES);
  return new D1Store(database, options);
}

class D1Store implements Store {
  readonly guarantees: Guarantees = { atomic: true, readYourWrites: true, durable: "power" };
  #database: D1Binding;
  #prepared = false;
  #watchers = new Watchers();
  #pollEvery: number;
  #allowOlder: boolean;
  #now: () => number;
  #guard: SweepGuard;
  #pending = new PendingCalls();
  #closing = false;

  constructor(database: D1Binding, options: D1Options) {
    this.#database = database;
    this.#pollEvery = checkWhole("d1Store.pollEvery", options.pollEvery ?? 1000, 1);
    this.#allowOlder = options.allowOlder ?? false;
    this.#now = options.now ?? Date.now;
    this.#guard = new SweepGuard(options);
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    this.#pending.begin();
    try {
      const { results: [row] } = await this.#run(selectOne(key, this.#now()));
      return row === undefined ? undefined : { ...toEntry<Value>(row as Row), key };
    } finally {
      this.#pending.end();
    }
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    this.#pending.begin();
    try {
      const { results } = await this.#run(selectPage(prefix, options, this.#now()));
      return (results as Row[]).map(toEntry<Value>);
    } finally {
      this.#pending.end();
    }
  }

  async commit(commit: Commit): Promise<boolean> {
    const statements = commitStatements(commit, this.#now());
    this.#pending.begin();
    try {
      await this.#prepare();
      await this.#database.batch(statements.map((statement) => this.#bind(statement)));
    } catch (error) {
      if (CHECK_FAILED.test(String(error))) return false;
      throw this.#explain(error);
    } finally {
      this.#pending.end();
    }
    if (this.#watchers.size > 0) this.#watchers.changed(changedBy(commit));
    return true;
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    // A timer of a Worker ends with the request that set it, so no two watchers share one.
    return this.#watchers.watch(prefix, (changed) => {
      let seen: number | undefined;
      let hasFailed = false;
      const poll = async () => {
        const { results: [row] } = await this.#run(LAST_VERSION);
        const { version } = row as { version: number };
        // Commits of this isolate are reported twice, which does no harm. Before the first version a change may have come.
        if (seen === undefined ? hasFailed : version !== seen) changed();
        seen = version;
      };
      // A failed poll is repaired by the next one.
      const tryPoll = () => poll().catch(() => hasFailed = true);
      tryPoll();
      const timer = setInterval(tryPoll, timerDelay(this.#pollEvery));
      return () => clearInterval(timer);
    });
  }

  async sweep(): Promise<number> {
    if (!this.#guard.maySweep()) return 0;
    for (let removed = 0;;) {
      const { meta } = await this.#run(sweepSome(this.#now(), SWEEP_BATCH_RECORDS));
      removed += meta.changes ?? 0;
      if ((meta.changes ?? 0) < SWEEP_BATCH_RECORDS || this.#closing) return removed;
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#pending.close();
    this.#watchers.close();
  }

  async #run(statement: Statement): Promise<D1Answer> {
    await this.#prepare();
    try {
      return await this.#bind(statement).all();
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #bind([sql, ...parameters]: Statement): D1Statement {
    return this.#database.prepare(sql).bind(...parameters);
  }

  async #prepare(): Promise<void> {
    if (this.#prepared) return;
    // Concurrent calls may each do this, which does no harm. They share no promise: a promise of a request that has ended
    // never settles, and would block every later request.
    try {
      const made = await this.#database.batch([
        ...SCHEMA.map((sql) => this.#database.prepare(sql)),
        this.#bind(formatStatement({ get: FORMAT_KEY })),
      ]);
      await ensureFormat(async (step) => {
        // The version record was read in the same batch that created the tables.
        const answer = "get" in step ? made.at(-1)! : await this.#bind(formatStatement(step)).all();
        return formatAnswer(step, answer.results as Row[]);
      }, { allowOlder: this.#allowOlder });
    } catch (error) {
      throw this.#explain(error);
    }
    this.#prepared = true;
  }

  #explain(error: unknown): unknown {
    if (error instanceof StoreFormatError) return error;
    const passing = new RegExp(
      "network|connection|timed? ?out|overloaded|reset|internal error|too many requests|storage caused|" +
        "transient|disconnected",
      "i",
    );
    if (!passing.test(String(error))) return error;
    return new StoreUnavailableError("D1 is unavailable", { cause: error });
  }
}
