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
 * Long because a driver is one file, but for its tables (`postgres/tables.ts`).
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { PeriodicTasks } from "../periodic_tasks.ts";
import { EngineClock } from "./engine_clock.ts";
import { ensureFormat, type FormatOptions, StoreFormatError } from "../format.ts";
import { decodeKey, encodeKey, pageRange, prefixRange } from "../key.ts";
import {
  type Commit,
  type Entry,
  type Guarantees,
  type Key,
  type ListOptions,
  type Store,
  StoreClosedError,
  StoreNotFoundError,
} from "../store.ts";
import {
  quote,
  readAddress,
  type Row,
  type Statements,
  statementsOf,
  toArray,
  toArrays,
  toEntry,
} from "./postgres/rows.ts";
import { codeOf, PostgresCommits } from "./postgres/commits.ts";
import { MIGRATIONS } from "./postgres/tables.ts";
import { PostgresPool } from "./postgres/pool.ts";
import { type EngineTimeout, withinTimeout } from "./engine_timeout.ts";
import { completeClocks, SWEEP_BATCH_RECORDS, SweepGuard } from "../sweep_guard.ts";
import { PendingCalls } from "./pending_calls.ts";
import { Watchers } from "../watchers.ts";

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
  allowOlder: 1,
  create: 1,
  sweepEvery: 1,
  onWarning: 1,
  now: 1,
  monotonic: 1,
};

/** How often a watcher renews its registration, which expires after three times as long. */
const WATCH_RENEWAL_MS = 20_000;
/** How often a watcher polls for commits when it cannot use LISTEN. */
const POLL_INTERVAL_MS = 500;
/** The timeout of the server for a statement, as a part of that of the caller. */
const STATEMENT_TIMEOUT_RATIO = 0.9;
/**
 * That of a commit for locks. A commit that waits behind one that waits for a lock, and then again in one group with another
 * one, is still in time.
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
  #pool: PostgresPool;
  #statements: Statements;
  #schema: string;
  #create: boolean;
  #allowOlder: boolean;
  #timeout: EngineTimeout;
  #pooled: boolean;
  #clock: EngineClock;
  #guard: SweepGuard;
  #measuring: Promise<void> | undefined;
  #onWarning: (message: string) => void;
  #ready: Promise<void> | undefined;
  #isReady = false;
  #watchers = new Watchers();
  #watching: { readonly name: string; readonly prefixes: Set<string> } | undefined;
  #registered: Promise<void> | undefined;
  #announced: Promise<unknown> = Promise.resolve();
  #tasks = new PeriodicTasks();
  #seenVersion = "";
  #pending = new PendingCalls();
  #commits = new PostgresCommits({
    one: (parameters) => this.#runCommit(this.#statements.commit, parameters),
    many: (parameters) => this.#runCommit(this.#statements.commits, parameters),
  });
  #closing: Promise<void> | undefined;
  /** `true` when no call is pending any more. */
  #closed = false;

  constructor(
    address: string,
    options: PostgresOptions,
  ) {
    const { sweepEvery = 60_000, onWarning = () => {}, create = true, allowOlder = false } = options;
    const { url, schema, timeout, pooled, max } = readAddress(address);
    this.#schema = schema;
    this.#timeout = {
      engine: "PostgreSQL",
      milliseconds: timeout * 1000,
      reasonOf: (error) => this.#closed || !isUnavailable(error) ? undefined : codeOf(error),
    };
    this.#pooled = pooled;
    this.#clock = new EngineClock(options, () => this.#measureSoon());
    this.#guard = new SweepGuard({
      now: () => this.#clock.now(),
      monotonic: completeClocks(options).monotonic,
    });
    this.#onWarning = onWarning;
    this.#create = create;
    this.#allowOlder = allowOlder;
    this.#statements = statementsOf(schema, Math.ceil(timeout * 1000 * LOCK_TIMEOUT_RATIO));
    this.#pool = new PostgresPool(url, {
      max,
      fetch_types: false,
      onnotice: () => {},
      // Finds a server that is available again within half a second, without flooding one that is down.
      backoff: (retries: number) => Math.min(0.05 * 2 ** Math.min(retries, 10), 0.5),
      ...(!/[?&]connect_timeout=/.test(address) && { connect_timeout: timeout }),
      // The server gives up before the caller does, so that waiting statements do not add up. A pooler in transaction mode
      // has no settings of one client.
      ...(!pooled && { statementTimeout: Math.ceil(timeout * 1000 * STATEMENT_TIMEOUT_RATIO) }),
    }, !pooled);
    this.#tasks.every(sweepEvery, () => this.sweep());
  }

  now(): number {
    return this.#clock.now();
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    this.#pending.begin();
    try {
      if (!this.#isReady || this.#registered) await this.#prepare();
      const [row] = await this.#run<Row>(this.#statements.get, [encodeKey(key), this.now()]);
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
      if (!this.#isReady || this.#registered) await this.#prepare();
      const statement = reverse ? this.#statements.descending : this.#statements.ascending;
      const rows = await this.#run<Row>(statement, [low, high, this.now(), Math.max(0, limit)]);
      return rows.map((row) => toEntry(decodeKey(row.key!), row));
    } finally {
      this.#pending.end();
    }
  }

  async commit(commit: Commit): Promise<boolean> {
    this.#pending.begin();
    try {
      if (!this.#isReady || this.#registered) await this.#prepare();
      const { done, abandon } = this.#commits.run(commit);
      return await this.#answer(done, abandon);
    } finally {
      this.#pending.end();
    }
  }

  async #runCommit<Done>(statement: string, parameters: readonly unknown[]): Promise<Done> {
    for (let tries = 0;; tries++) {
      try {
        const [row] = await this.#run<{ done: Done }>(statement, [this.now(), ...parameters]);
        return row!.done;
      } catch (error) {
        // The commit was rolled back.
        if (!isDeadlock(error) || tries === MAX_DEADLOCK_RETRIES) throw error;
      }
    }
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    this.#watching ??= { name: crypto.randomUUID(), prefixes: new Set() };
    const prefixes = this.#watching.prefixes;
    if (!prefixes.has(encodeKey(prefix))) {
      prefixes.add(encodeKey(prefix));
      // Later reads wait for the registration, so that no change is missed between a read and the watch.
      const before = this.#registered;
      const registered: Promise<void> = (before ?? Promise.resolve()).then(() => this.#register()).finally(
        () => {
          if (this.#registered === registered) this.#registered = undefined;
        },
      );
      registered.catch(() => this.#registerLater());
      this.#registered = registered;
    }
    return this.#watchers.watch(prefix);
  }

  async sweep(): Promise<number> {
    await this.#prepare();
    if (this.#clock.isDue()) await this.#measureClock();
    if (!this.#guard.maySweep()) return 0;
    // Those of instances that were killed.
    await this.#run(`DELETE FROM ${this.#schema}.watching WHERE until < now()`, []);
    let removed = 0;
    while (!this.#closing) {
      const [row] = await this.#run<{ removed: number }>(this.#statements.sweep, [
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
    await this.#pending.close();
    if (this.#watching && this.#isReady) {
      await this.#run(`DELETE FROM ${this.#schema}.watching WHERE watcher = $1`, [this.#watching.name])
        .catch(() => {});
    }
    this.#closed = true;
    this.#watchers.close();
    await this.#pool.end();
  }

  /** Resolves when the database has its tables and every watch so far is registered. */
  async #prepare(): Promise<void> {
    if (this.#closed) throw new StoreClosedError();
    if (!this.#isReady) {
      this.#ready ??= this.#migrate().then(() => {
        this.#isReady = true;
      }).finally(() => {
        // The next call retries after an error.
        this.#ready = undefined;
      });
      await this.#ready;
    }
    await this.#registered;
  }

  /** Applies missing migrations. Instances that start at the same time do it one after the other. */
  async #migrate(): Promise<void> {
    const schema = this.#schema;
    const found = await this.#run<
      { there: string | null; encoding: string; isolation: string; fsync: string; sync: string }
    >(
      `SELECT to_regclass($1)::text AS there, current_setting('server_encoding') AS encoding,
        current_setting('default_transaction_isolation') AS isolation, current_setting('fsync') AS fsync,
        current_setting('synchronous_commit') AS sync`,
      [`${schema}.migration`],
    );
    const { there, encoding, isolation, fsync, sync } = found[0]!;
    if (there === null && !this.#create) {
      throw new StoreNotFoundError(`The database has no schema "${schema}"`);
    }
    if (encoding !== "UTF8") throw new Error(`The database's encoding must be UTF8, but is ${encoding}`);
    if (isolation !== "read committed") {
      throw new Error(`default_transaction_isolation must be "read committed", but is "${isolation}"`);
    }
    if (fsync === "off" || sync === "off") {
      this.#onWarning(
        `PostgreSQL runs with ${
          fsync === "off" ? "fsync" : "synchronous_commit"
        } off: acknowledged commits may be lost in a crash. Turn it on`,
      );
    }
    await this.#measureClock();
    const current = there === null ? 0 : await this.#version();
    if (current > MIGRATIONS.length) {
      throw new StoreFormatError(
        `The schema "${schema}" has tables of version ${current}, made by a newer Trivet; this version makes version ${MIGRATIONS.length}. Update Trivet, or use another schema`,
      );
    }
    if (current < MIGRATIONS.length) await this.#makeTables();
    await this.#ensureFormat();
  }

  /** Creates the tables and functions that are missing. */
  async #makeTables(): Promise<void> {
    const schema = this.#schema;
    await this.#answer(this.#pool.transact(async (sql) => {
      await sql.unsafe("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [
        `trivet migration ${schema}`,
      ]);
      await sql.unsafe(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await sql.unsafe(
        `CREATE TABLE IF NOT EXISTS ${schema}.migration (version int PRIMARY KEY, done timestamptz DEFAULT now())`,
      );
      const [row] = await sql.unsafe(`SELECT count(*)::int AS version FROM ${schema}.migration`);
      for (let version = row!.version as number; version < MIGRATIONS.length; version++) {
        await sql.unsafe(MIGRATIONS[version]!.replace(/\$(?=[.'])/g, () => schema));
        await sql.unsafe(`INSERT INTO ${schema}.migration (version) VALUES (${version + 1})`);
      }
    }));
  }

  async #ensureFormat(): Promise<void> {
    await ensureFormat(async (step) => {
      if ("get" in step) {
        const [row] = await this.#run<Row>(this.#statements.get, [encodeKey(step.get), 0]);
        return row && toEntry(step.get, row).value;
      }
      if ("list" in step) {
        const { low, high } = prefixRange(step.list);
        const rows = await this.#run<Row>(this.#statements.ascending, [low, high, 0, step.limit]);
        return rows.map((row) => toEntry(step.list, row).value);
      }
      const { put: key, value } = step;
      await this.#run(this.#statements.commit, [
        0,
        ...toArrays({ check: [{ key, version: null }], set: [{ key, value }] }),
      ]);
    }, { allowOlder: this.#allowOlder });
  }

  /** Measures the clock of the engine again, because the system clock was set or the machine slept. */
  #measureSoon(): void {
    this.#measuring ??= this.#measureClock().catch(() => {}).finally(() => this.#measuring = undefined);
  }

  async #measureClock(): Promise<void> {
    await this.#clock.measure(async () => {
      const [row] = await this.#run<{ now: string }>(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS now",
        [],
      );
      return Number(row!.now);
    });
  }

  async #version(): Promise<number> {
    const [row] = await this.#run<{ version: number }>(
      `SELECT count(*)::int AS version FROM ${this.#schema}.migration`,
      [],
    );
    return row!.version;
  }

  async #register(): Promise<void> {
    if (!this.#isReady) {
      await this.#migrate();
      this.#isReady = true;
    }
    const { name, prefixes } = this.#watching!;
    if (this.#pooled) {
      if (this.#seenVersion !== "") return;
      this.#seenVersion = await this.#lastVersion();
      this.#tasks.every(POLL_INTERVAL_MS, async () => {
        const version = await this.#lastVersion();
        if (version === this.#seenVersion) return;
        this.#seenVersion = version;
        this.#watchers.changedAll();
      });
      return;
    }
    // One after the other, so that an older list does not replace a newer one.
    const announce = (): Promise<unknown> =>
      this.#announced = this.#announced.catch(() => {}).then(() => {
        // Every commit compares its keys with these prefixes, and notifies all instances of a match.
        const watched = new Set(this.#watchers.prefixes.map(encodeKey));
        for (const prefix of prefixes) if (!watched.has(prefix)) prefixes.delete(prefix);
        return this.#run(
          `INSERT INTO ${this.#schema}.watching VALUES ($1, $2::text[], now() + interval '${
            3 * WATCH_RENEWAL_MS
          } milliseconds')
           ON CONFLICT (watcher) DO UPDATE SET prefixes = excluded.prefixes, until = excluded.until`,
          [name, toArray([...prefixes], quote)],
        );
      });
    if (this.#seenVersion === "") {
      this.#seenVersion = "listening";
      this.#tasks.every(WATCH_RENEWAL_MS, () => Promise.all([announce(), this.#checkListener()]));
      let lost = false;
      const onNotification = (payload: string) => {
        // Others may watch when this instance does not any more.
        if (this.#watchers.size === 0) return;
        if (payload === "") this.#watchers.changedAll();
        else this.#watchers.changed((JSON.parse(payload) as string[]).map(decodeKey));
      };
      const listening = this.#pool.listen(this.#schema, onNotification, () => {
        // After a reconnection: changes may have been missed, and the registration may have expired.
        if (lost) announce().catch(() => {}).then(() => this.#watchers.changedAll());
        lost = true;
      });
      // postgres.js retries by itself.
      await this.#answer(listening).catch((error) => {
        lost = true;
        throw error;
      });
    }
    await announce();
  }

  /** Replaces the listening connection unless it answers: only a statement shows that the peer is gone. */
  async #checkListener(): Promise<void> {
    await this.#answer(this.#pool.probeListener()).catch(() => this.#pool.replaceListener());
  }

  /** Retries a registration that failed because the engine is unavailable. */
  #registerLater(): void {
    const timer = setTimeout(() => {
      if (this.#closing) return;
      this.#register().then(() => this.#watchers.changedAll(), () => this.#registerLater());
    }, POLL_INTERVAL_MS);
    (timer as unknown as { unref?: () => void }).unref?.();
  }

  async #lastVersion(): Promise<string> {
    const [row] = await this.#run<{ version: string }>(
      `SELECT last_value::text AS version FROM ${this.#schema}.version`,
      [],
    );
    return row!.version;
  }

  #run<Result>(statement: string, parameters: readonly unknown[]): Promise<readonly Result[]> {
    const { rows, cancel } = this.#pool.run<Result>(statement, parameters);
    return this.#answer(rows, cancel);
  }

  #answer<Result>(query: Promise<Result>, cancel?: () => unknown): Promise<Result> {
    return withinTimeout(this.#timeout, query, cancel);
  }
}

function isDeadlock(error: unknown): boolean {
  return /^40(P01|001)$/.test(codeOf(error));
}

/**
 * Whether the error is temporary: of the network, or of a server that stops, starts, is full or is a standby
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html, classes 08, 53, 57, and 25006).
 */
function isUnavailable(error: unknown): boolean {
  return /^(E[A-Z_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|08...|53...|57P0.|57014|55P03|25006)$/.test(
    codeOf(error),
  );
}
