/**
 * The store in PostgreSQL, through postgres.js: any number of instances on one database.
 *
 * A `get` is one prepared statement; a `commit` is one call of a function that the first instance creates in the
 * database. Each takes one round trip; commits of many callers share one (`postgres/commits.ts`). The function takes an
 * advisory lock for every key that it uses, in a fixed order, then checks, then writes. So concurrent commits of the same
 * keys wait for each other, and exactly one wins.
 *
 * The address is a `postgres://` URL. Beside the parameters of postgres.js (`max`, `sslmode`, `connect_timeout` …) it has
 * `schema` (default `trivet`), `timeout` (seconds to wait for an answer, default 5) and `pgbouncer=true`: statements are
 * not prepared, and `watch` polls, because a pool in transaction mode does not support LISTEN.
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../../options/option_check.ts";
import type { FormatOptions } from "../format.ts";
import { decodeKey, encodeKey, pageRange } from "../key.ts";
import { PeriodicTasks } from "../periodic_tasks.ts";
import {
  type Commit,
  type Entry,
  type Guarantees,
  type Key,
  type ListOptions,
  type Store,
  StoreClosedError,
} from "../store.ts";
import { completeClocks, SWEEP_BATCH_RECORDS, SweepGuard } from "../sweep_guard.ts";
import { EngineClock } from "./engine_clock.ts";
import { PendingCalls } from "./pending_calls.ts";
import { codeOf, PostgresCommits } from "./postgres/commits.ts";
import { PostgresConnection } from "./postgres/connection.ts";
import { checkFormat, checkSettings, migrate } from "./postgres/migration.ts";
import { type Row, type Statements, statementsOf, toEntry } from "./postgres/rows.ts";
import { PostgresWatching } from "./postgres/watching.ts";
export type { Store } from "../store.ts";

/** Options of the store in PostgreSQL. */
export interface PostgresOptions extends FormatOptions {
  /** Whether a store is created where there is none; else the first use fails. @default true */
  readonly create?: boolean;
  /** How often one of the instances removes expired records, in milliseconds. @default 60000 */
  readonly sweepEvery?: number;
  /** Called with a warning when settings of the server weaken the guarantees of this driver. */
  readonly onWarning?: (message: string) => void;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
  /** Milliseconds since any moment, for tests. @default `now`, else `performance.now()` */
  readonly monotonic?: () => number;
}

const NAMES: Names<PostgresOptions> = {
  allowOlder: "boolean",
  create: "boolean",
  sweepEvery: "number",
  onWarning: "function",
  now: "function",
  monotonic: "function",
};

/**
 * The timeout of the server for the locks of a commit, as a part of that of the caller. A commit that waits behind one that
 * waits for a lock, and then again in one group with another one, is still in time.
 */
const LOCK_TIMEOUT_RATIO = 0.3;
/** How often a commit is retried that the engine aborted because of a deadlock. */
const MAX_DEADLOCK_RETRIES = 5;

/** Opens a store. It connects at the first use. @throws {TypeError} for an invalid address */
export function postgresStore(address: string, options: PostgresOptions = {}): Store {
  checkNames("postgresStore", options, NAMES);
  return new PostgresStore(address, options);
}

class PostgresStore implements Store {
  readonly guarantees: Guarantees = { atomic: true, readYourWrites: true, durable: "power" };
  readonly #connection: PostgresConnection;
  readonly #statements: Statements;
  readonly #create: boolean;
  readonly #allowOlder: boolean;
  readonly #clock: EngineClock;
  readonly #guard: SweepGuard;
  #measuring: Promise<void> | undefined;
  readonly #onWarning: (message: string) => void;
  #ready: Promise<void> | undefined;
  #isReady = false;
  readonly #watching: PostgresWatching;
  readonly #tasks = new PeriodicTasks();
  readonly #pending = new PendingCalls();
  readonly #commits = new PostgresCommits({
    one: (parameters) => this.#runCommit(this.#statements.commit, parameters),
    many: (parameters) => this.#runCommit(this.#statements.commits, parameters),
  });
  #closing: Promise<void> | undefined;

  constructor(
    address: string,
    options: PostgresOptions,
  ) {
    const sweepEvery = checkWhole("postgresStore.sweepEvery", options.sweepEvery ?? 60_000, 1);
    const { onWarning = () => {}, create = true, allowOlder = false } = options;
    this.#connection = new PostgresConnection(address);
    const { schema, timeoutMs } = this.#connection;
    this.#statements = statementsOf(schema, Math.ceil(timeoutMs * LOCK_TIMEOUT_RATIO));
    this.#watching = new PostgresWatching(this.#connection, () => this.#prepareTables());
    this.#clock = new EngineClock(options, () => this.#measureSoon());
    this.#guard = new SweepGuard({
      now: () => this.#clock.now(),
      monotonic: completeClocks(options).monotonic,
    });
    this.#onWarning = onWarning;
    this.#create = create;
    this.#allowOlder = allowOlder;
    this.#tasks.every(sweepEvery, () => this.sweep());
  }

  now(): number {
    return this.#clock.now();
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    this.#pending.begin();
    try {
      if (!this.#isReady || this.#watching.registered) await this.#prepare();
      const [row] = await this.#connection.run<Row>(this.#statements.get, [encodeKey(key), this.now()]);
      return row && toEntry(key, row);
    } finally {
      this.#pending.end();
    }
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    const { limit = 100, reverse = false } = options;
    const { low, high } = pageRange(prefix, options);
    this.#pending.begin();
    try {
      if (!this.#isReady || this.#watching.registered) await this.#prepare();
      const statement = reverse ? this.#statements.descending : this.#statements.ascending;
      const rows = await this.#connection.run<Row>(statement, [low, high, this.now(), Math.max(0, limit)]);
      return rows.map((row) => toEntry(decodeKey(row.key!), row));
    } finally {
      this.#pending.end();
    }
  }

  async commit(commit: Commit): Promise<boolean> {
    this.#pending.begin();
    try {
      if (!this.#isReady || this.#watching.registered) await this.#prepare();
      const { done, abandon } = this.#commits.run(commit);
      return await this.#connection.inTime(done, abandon);
    } finally {
      this.#pending.end();
    }
  }

  async #runCommit<Done>(statement: string, parameters: readonly unknown[]): Promise<Done> {
    for (let tries = 0;; tries++) {
      try {
        const [row] = await this.#connection.run<{ done: Done }>(statement, [this.now(), ...parameters]);
        return row!.done;
      } catch (error) {
        // The commit was rolled back.
        if (!isDeadlock(error) || tries === MAX_DEADLOCK_RETRIES) throw error;
      }
    }
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    return this.#watching.watch(prefix);
  }

  async sweep(): Promise<number> {
    await this.#prepare();
    if (this.#clock.isDue()) await this.#measureClock();
    if (!this.#guard.maySweep()) return 0;
    // Those of instances that were killed.
    await this.#connection.run(`DELETE FROM ${this.#connection.schema}.watching WHERE until < now()`, []);
    let removed = 0;
    while (!this.#closing) {
      const [row] = await this.#connection.run<{ removed: number }>(this.#statements.sweep, [
        this.now(),
        SWEEP_BATCH_RECORDS,
      ]);
      removed += Number(row!.removed);
      if (Number(row!.removed) < SWEEP_BATCH_RECORDS) break;
    }
    return removed;
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#tasks.stop();
    this.#watching.stop();
    await this.#pending.close();
    if (this.#isReady) await this.#watching.unregister();
    this.#watching.close();
    await this.#connection.close();
  }

  /** Resolves when the database has its tables and every watch so far is registered. */
  async #prepare(): Promise<void> {
    if (this.#connection.isClosed) throw new StoreClosedError();
    if (!this.#isReady) {
      this.#ready ??= this.#prepareTables().finally(() => {
        // The next call retries after an error.
        this.#ready = undefined;
      });
      await this.#ready;
    }
    await this.#watching.registered;
  }

  /** Prepares the database for this store, unless that was done. */
  async #prepareTables(): Promise<void> {
    if (this.#isReady) return;
    const exists = await checkSettings(this.#connection, this.#create, this.#onWarning);
    await this.#measureClock();
    await migrate(this.#connection, exists);
    await checkFormat(this.#connection, this.#statements, { allowOlder: this.#allowOlder });
    this.#isReady = true;
  }

  /** Measures the clock of the engine again, because the system clock was set or the machine slept. */
  #measureSoon(): void {
    this.#measuring ??= this.#measureClock().catch(() => {}).finally(() => this.#measuring = undefined);
  }

  async #measureClock(): Promise<void> {
    await this.#clock.measure(async () => {
      const [row] = await this.#connection.run<{ now: string }>(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS now",
        [],
      );
      return Number(row!.now);
    });
  }
}

function isDeadlock(error: unknown): boolean {
  return /^40(P01|001)$/.test(codeOf(error));
}
