/**
 * The store in PostgreSQL, through postgres.js: any number of instances on one database.
 *
 * A `get` is one prepared statement, a `commit` one call of a function that the first instance puts into the database:
 * one round trip each. The function takes an advisory lock for every key that it touches, in one order, then checks,
 * then writes; so racing commits wait for each other key by key, and exactly one of them wins.
 *
 * The address is a `postgres://` URL. Beside what postgres.js knows (`max`, `sslmode`, `connect_timeout` …) it takes
 * `schema` (default `trivet`), `timeout` (seconds until an answer is given up, default 5) and `pgbouncer=true`: nothing
 * is prepared, and `watch` polls, since a pool in transaction mode keeps no LISTEN.
 *
 * Long because a driver is one file: the tables, the function in the database, and the client.
 *
 * @module
 */
import { Chores } from "../chores.ts";
import { EngineClock } from "./engine_clock.ts";
import { ensureFormat, StoreFormatError } from "../format.ts";
import { decodeKey, encodeKey, pageRange, prefixRange } from "../key.ts";
import {
  type Commit,
  type Entry,
  type Guarantees,
  type Key,
  type ListOptions,
  type Store,
} from "../store.ts";
import { PostgresPool } from "./postgres_pool.ts";
import { answerInTime, type Patience } from "./patience.ts";
import { completeClocks, SweepGuard } from "../steady_time.ts";
import { UnderWay } from "./under_way.ts";
import { Watchers } from "../watchers.ts";

export interface PostgresOptions {
  /** How often expired records are removed, in milliseconds; of several instances one does it. @default 60000 */
  readonly sweepEvery?: number;
  /** Hears what of the server's settings weakens the promises of this driver. */
  readonly onWarning?: (message: string) => void;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
  /** Milliseconds since any moment, for tests. @default `now`, else `performance.now()` */
  readonly monotonic?: () => number;
}

interface Row {
  readonly key?: string;
  readonly value: string | null;
  readonly bytes: Uint8Array | null;
  readonly version: string;
  readonly expires: string | null;
}

/** The migrations, in order: the database's version is how many of them it has. `$` stands for the schema. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE $.record (
    key text COLLATE "C" PRIMARY KEY, value text, bytes bytea, version bigint NOT NULL, expires bigint
  );
  CREATE INDEX record_expires ON $.record (expires) WHERE expires IS NOT NULL;
  CREATE SEQUENCE $.version;
  -- Until its first use a sequence shows its first value already, and a watcher that polls would miss that use.
  SELECT nextval('$.version');
  CREATE TABLE $.watching (watcher text PRIMARY KEY, prefixes text[] NOT NULL, until timestamptz NOT NULL);

  CREATE FUNCTION $.commit(
    "time" bigint, check_keys text[], check_versions bigint[], remove_keys text[],
    set_keys text[], set_values text[], set_bytes bytea[], set_expires bigint[]
  ) RETURNS boolean LANGUAGE plpgsql AS $body$
  DECLARE
    touched text[] := check_keys || remove_keys || set_keys;
    everything bigint := hashtextextended('$', '$.record'::regclass::oid::bigint);
    next bigint;
    payload text;
    k text;
  BEGIN
    -- Rows are found one by one: plans are kept, and one for many rows that was made while the table was small would
    -- read the whole table when it is large.
    -- The server has room for some thousand locks: a commit of many keys takes one for everything instead.
    IF cardinality(touched) > 100 THEN
      PERFORM pg_advisory_xact_lock(everything);
    ELSE
      PERFORM pg_advisory_xact_lock_shared(everything);
      PERFORM pg_advisory_xact_lock(lock) FROM (
        SELECT DISTINCT hashtextextended(name, '$.record'::regclass::oid::bigint) AS lock FROM unnest(touched) AS name ORDER BY 1
      ) AS locks;
    END IF;
    IF cardinality(check_keys) > 0 AND EXISTS (
      SELECT FROM unnest(check_keys, check_versions) AS c(key, version) WHERE c.version IS DISTINCT FROM (
        SELECT r.version FROM $.record AS r WHERE r.key = c.key AND (r.expires IS NULL OR r.expires > "time")
      )
    ) THEN
      RETURN false;
    END IF;
    next := nextval('$.version');
    FOREACH k IN ARRAY remove_keys LOOP
      DELETE FROM $.record WHERE key = k;
    END LOOP;
    IF cardinality(set_keys) > 0 THEN
      INSERT INTO $.record (key, value, bytes, version, expires)
      SELECT s.key, s.value, s.bytes, next, s.expires
      FROM unnest(set_keys, set_values, set_bytes, set_expires) AS s(key, value, bytes, expires)
      ON CONFLICT (key) DO UPDATE SET
        value = excluded.value, bytes = excluded.bytes, version = excluded.version, expires = excluded.expires;
    END IF;
    -- NOTIFY makes commits of the whole database wait for each other: only where somebody watches these keys.
    IF EXISTS (
      SELECT FROM $.watching AS w, unnest(w.prefixes) AS prefix, unnest(remove_keys || set_keys) AS changed
      WHERE w.until > now() AND starts_with(changed, prefix)
    ) THEN
      payload := array_to_json(remove_keys || set_keys)::text;
      PERFORM pg_notify('$', CASE WHEN octet_length(payload) < 7900 THEN payload ELSE '' END);
    END IF;
    RETURN true;
  END
  $body$;
  `,
];

/** How many expired records one sweep statement removes, so that no write waits long behind it. */
const SWEEP_BATCH = 1000;
/** A watcher says this often that it is still there, in milliseconds; it is forgotten after three times as long. */
const WATCHING_EVERY = 20_000;
/** Where LISTEN cannot be used, a watcher looks this often whether anything was written, in milliseconds. */
const LOOK_EVERY = 500;
/** How often a commit that the engine broke off to end a deadlock is tried again. */
const DEADLOCK_RETRIES = 5;

/** Opens a store; nothing is sent before it is used. @throws {TypeError} for an address that is none */
export function postgresStore(address: string, options: PostgresOptions = {}): Store {
  return new PostgresStore(address, options);
}

class PostgresStore implements Store {
  readonly guarantees: Guarantees = { atomic: true, readYourWrites: true, durable: "power" };
  #pool: PostgresPool;
  #statements: ReturnType<typeof statementsOf>;
  #schema: string;
  #patience: Patience;
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
  #chores = new Chores();
  #seenVersion = "";
  #underWay = new UnderWay();
  #closing: Promise<void> | undefined;
  /** Nothing is under way any more. */
  #closed = false;

  constructor(
    address: string,
    options: PostgresOptions,
  ) {
    const { sweepEvery = 60_000, onWarning = () => {} } = options;
    const { url, schema, timeout, pooled } = readAddress(address);
    this.#schema = schema;
    this.#patience = {
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
    this.#statements = statementsOf(schema);
    this.#pool = new PostgresPool(url, {
      fetch_types: false,
      onnotice: () => {},
      // A server that is back is found within half a second, and one that is down is not hammered.
      backoff: (retries: number) => Math.min(0.05 * 2 ** Math.min(retries, 10), 0.5),
      ...(pooled && { prepare: false }),
      ...(!/[?&]connect_timeout=/.test(address) && { connect_timeout: timeout }),
    }, !pooled);
    this.#chores.every(sweepEvery, () => this.sweep());
  }

  now(): number {
    return this.#clock.now();
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    this.#underWay.begin();
    try {
      if (!this.#isReady || this.#registered) await this.#prepare();
      const [row] = await this.#run<Row>(this.#statements.get, [encodeKey(key), this.now()]);
      return row && toEntry(key, row);
    } finally {
      this.#underWay.end();
    }
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    const { limit = 100, reverse = false } = options;
    const { low, high } = pageRange(prefix, options);
    this.#underWay.begin();
    try {
      if (!this.#isReady || this.#registered) await this.#prepare();
      const statement = reverse ? this.#statements.descending : this.#statements.ascending;
      const rows = await this.#run<Row>(statement, [low, high, this.now(), Math.max(0, limit)]);
      return rows.map((row) => toEntry(decodeKey(row.key!), row));
    } finally {
      this.#underWay.end();
    }
  }

  async commit(commit: Commit): Promise<boolean> {
    const arrays = toArrays(commit);
    this.#underWay.begin();
    try {
      if (!this.#isReady || this.#registered) await this.#prepare();
      return await this.#runCommit([this.now(), ...arrays]);
    } finally {
      this.#underWay.end();
    }
  }

  async #runCommit(parameters: readonly unknown[]): Promise<boolean> {
    for (let tries = 0;; tries++) {
      try {
        const [row] = await this.#run<{ done: boolean }>(this.#statements.commit, parameters);
        return row!.done;
      } catch (error) {
        // Nothing of it was done.
        if (!isDeadlock(error) || tries === DEADLOCK_RETRIES) throw error;
      }
    }
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    this.#watching ??= { name: crypto.randomUUID(), prefixes: new Set() };
    const prefixes = this.#watching.prefixes;
    if (!prefixes.has(encodeKey(prefix))) {
      prefixes.add(encodeKey(prefix));
      // Whatever is read after this call is read when changes are told already: so nothing falls between.
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
    let removed = 0;
    while (!this.#closing) {
      const [row] = await this.#run<{ removed: number }>(this.#statements.sweep, [this.now(), SWEEP_BATCH]);
      removed += Number(row!.removed);
      if (Number(row!.removed) < SWEEP_BATCH) break;
    }
    return removed;
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#chores.stop();
    await this.#underWay.close();
    if (this.#watching && this.#isReady) {
      await this.#run(`DELETE FROM ${this.#schema}.watching WHERE watcher = $1`, [this.#watching.name])
        .catch(() => {});
    }
    this.#closed = true;
    this.#watchers.close();
    await this.#pool.end();
  }

  /** Resolves when the database has its tables and every watch so far is in effect. */
  async #prepare(): Promise<void> {
    if (this.#closed) throw new Error("Cannot use the store: it is closed");
    if (!this.#isReady) {
      this.#ready ??= this.#migrate().then(() => {
        this.#isReady = true;
      }).finally(() => {
        // What failed is tried again by the next call: the engine may be back.
        this.#ready = undefined;
      });
      await this.#ready;
    }
    await this.#registered;
  }

  /** Brings the database up to date. Instances that start together do it one after the other. */
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
    if (encoding !== "UTF8") throw new Error(`The database's encoding must be UTF8, but is ${encoding}`);
    if (isolation !== "read committed") {
      throw new Error(`default_transaction_isolation must be "read committed", but is "${isolation}"`);
    }
    if (fsync === "off" || sync === "off") {
      this.#onWarning(
        `PostgreSQL runs with ${
          fsync === "off" ? "fsync" : "synchronous_commit"
        } off: what it acknowledged may be lost in a crash`,
      );
    }
    await this.#measureClock();
    const current = there === null ? 0 : await this.#version();
    if (current > MIGRATIONS.length) {
      throw new StoreFormatError(
        `The schema "${schema}" was made by a newer Trivet (version ${current}). Update Trivet, or use another schema`,
      );
    }
    if (current < MIGRATIONS.length) await this.#makeTables();
    await this.#ensureFormat();
  }

  /** The tables and functions that the database does not have yet. */
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
    });
  }

  /** This machine's clock was set, or the machine slept: what is known of the engine's clock may be old. */
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
      this.#chores.every(LOOK_EVERY, async () => {
        const version = await this.#lastVersion();
        if (version === this.#seenVersion) return;
        this.#seenVersion = version;
        this.#watchers.changedAll();
      });
      return;
    }
    const announce = () =>
      this.#run(
        `INSERT INTO ${this.#schema}.watching VALUES ($1, $2::text[], now() + interval '${
          3 * WATCHING_EVERY
        } milliseconds')
         ON CONFLICT (watcher) DO UPDATE SET prefixes = excluded.prefixes, until = excluded.until`,
        [name, toArray([...prefixes], quote)],
      );
    if (this.#seenVersion === "") {
      this.#seenVersion = "listening";
      this.#chores.every(WATCHING_EVERY, announce);
      let lost = false;
      const hear = (payload: string) =>
        payload === ""
          ? this.#watchers.changedAll()
          : this.#watchers.changed((JSON.parse(payload) as string[]).map(decodeKey));
      const listening = this.#pool.listen(this.#schema, hear, () => {
        // Listening again: what happened meanwhile was told to nobody, and this watcher may be forgotten.
        if (lost) announce().catch(() => {}).then(() => this.#watchers.changedAll());
        lost = true;
      });
      // It goes on trying.
      await this.#answer(listening).catch((error) => {
        lost = true;
        throw error;
      });
    }
    await announce();
  }

  /** A watch that could not begin, since the engine is away, begins when it is back. */
  #registerLater(): void {
    const timer = setTimeout(() => {
      if (this.#closing) return;
      this.#register().then(() => this.#watchers.changedAll(), () => this.#registerLater());
    }, LOOK_EVERY);
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
    const { rows, takeBack } = this.#pool.ask<Result>(statement, parameters);
    return this.#answer(rows, takeBack);
  }

  #answer<Result>(query: Promise<Result>, cancel?: () => unknown): Promise<Result> {
    return answerInTime(this.#patience, query, cancel);
  }
}

function statementsOf(schema: string) {
  const alive = (parameter: string) => `(expires IS NULL OR expires > ${parameter}::bigint)`;
  const columns = "value, bytes, version::text, expires::text";
  const page = `SELECT key, ${columns} FROM ${schema}.record WHERE key > $1 AND key < $2 AND ${alive("$3")}`;
  return {
    get: `SELECT ${columns} FROM ${schema}.record WHERE key = $1 AND ${alive("$2")}`,
    ascending: `${page} ORDER BY key LIMIT $4`,
    descending: `${page} ORDER BY key DESC LIMIT $4`,
    commit: `SELECT ${schema}.commit($1, $2, $3, $4, $5, $6, $7, $8) AS done`,
    // The lock makes it one instance's turn; a row that is being written is left for the next time.
    sweep: `
      WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(hashtextextended('${schema} sweep', 0)) AS mine),
      dead AS (
        SELECT key FROM ${schema}.record WHERE (SELECT mine FROM turn) AND expires <= $1::bigint
        ORDER BY expires LIMIT $2::int FOR UPDATE SKIP LOCKED
      ),
      gone AS (DELETE FROM ${schema}.record USING dead WHERE record.key = dead.key RETURNING 1)
      SELECT count(*)::int AS removed FROM gone`,
  };
}

function readAddress(address: string): { url: string; schema: string; timeout: number; pooled: boolean } {
  const [before, query = ""] = address.split("?", 2) as [string, string?];
  if (!/^postgres(ql)?:\/\//.test(address)) throw new TypeError("The address must begin with postgres://");
  const parameters = new URLSearchParams(query);
  const schema = parameters.get("schema") ?? "trivet";
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
    throw new TypeError(`schema must be small letters, digits and _, but is "${schema}"`);
  }
  const timeout = Number(parameters.get("timeout") ?? 5);
  if (!(timeout > 0)) throw new TypeError("timeout must be a number of seconds above 0");
  const pooled = parameters.get("pgbouncer") === "true";
  for (const own of ["schema", "timeout", "pgbouncer"]) parameters.delete(own);
  return { url: parameters.size > 0 ? `${before}?${parameters}` : before, schema, timeout, pooled };
}

/** The commit as array literals; of two sets of one key the last counts. */
function toArrays({ check = [], set = [], remove = [] }: Commit): string[] {
  const puts = [...new Map(set.map((put) => [encodeKey(put.key), put]))];
  return [
    toArray(check.map(({ key }) => encodeKey(key)), quote),
    toArray(
      check.map(({ version }) => version),
      (version) => version && /^[0-9]+$/.test(version) ? version : "NULL",
    ),
    toArray(remove.map(encodeKey), quote),
    toArray(puts.map(([id]) => id), quote),
    toArray(
      puts.map(([, { value }]) => value),
      (value) => isBytes(value) ? "NULL" : quote(JSON.stringify(value)),
    ),
    toArray(
      puts.map(([, { value }]) => value),
      (value) => isBytes(value) ? `"\\\\x${toHex(value)}"` : "NULL",
    ),
    toArray(
      puts.map(([, { expires }]) => expires),
      (expires) => expires === undefined ? "NULL" : String(Math.ceil(expires)),
    ),
  ];
}

function toArray<Element>(elements: readonly Element[], write: (element: Element) => string): string {
  return `{${elements.map(write).join(",")}}`;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

/** The two digits of each byte, as one little-endian number. */
const HEX = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, "0");
  return digits.charCodeAt(0) | digits.charCodeAt(1) << 8;
});
const decoder = new TextDecoder();

/** By way of bytes: a text that grows digit by digit takes many times its length. */
function toHex(bytes: Uint8Array): string {
  const digits = new Uint16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) digits[i] = HEX[bytes[i]!]!;
  return decoder.decode(digits);
}

function toEntry<Value>(key: Key, { value, bytes, version, expires }: Row): Entry<Value> {
  const content = (value === null ? new Uint8Array(bytes!) : JSON.parse(value)) as Value;
  const entry = { key, value: content, version };
  return expires === null ? entry : { ...entry, expires: Number(expires) };
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? "");
}

function isDeadlock(error: unknown): boolean {
  return /^40(P01|001)$/.test(codeOf(error));
}

/**
 * Whether it may pass by itself: the network, a server that stops, starts, is full or is a standby
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html, classes 08, 53, 57, and 25006).
 */
function isUnavailable(error: unknown): boolean {
  return /^(E[A-Z_]+|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|08...|53...|57P0.|57014|55P03|25006)$/.test(
    codeOf(error),
  );
}
