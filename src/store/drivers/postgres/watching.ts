/**
 * Watching in PostgreSQL: an instance registers the prefixes that it watches in a table, commits compare their keys with
 * them and send NOTIFY, and the instance listens. Behind a pooler in transaction mode, which does not support LISTEN, it
 * polls the version of the last commit.
 *
 * @module
 */
import { encodeKey } from "../../key.ts";
import type { Key } from "../../store.ts";
import { EngineWatchers } from "../engine_watchers.ts";
import type { PostgresConnection } from "./connection.ts";
import { quote, toArray } from "./rows.ts";

/** How often a watcher renews its registration, which expires after three times as long. */
const WATCH_RENEWAL_MS = 20_000;

/** The row of an instance in the table of watched prefixes. */
interface Registration {
  readonly name: string;
  readonly prefixes: Set<string>;
}

/** The watches of one instance. */
export class PostgresWatching {
  readonly #connection: PostgresConnection;
  readonly #prepareTables: () => Promise<void>;
  readonly #watchers = new EngineWatchers();
  /** Absent until the first watch: on workerd, random names are made in requests only. */
  #registration: Registration | undefined;
  #announced: Promise<unknown> = Promise.resolve();
  #listens = false;
  #isAnnounced = false;

  /** @param prepareTables resolves when the database has its tables */
  constructor(connection: PostgresConnection, prepareTables: () => Promise<void>) {
    this.#connection = connection;
    this.#prepareTables = prepareTables;
  }

  /** As {@linkcode EngineWatchers.registered}. */
  get registered(): Promise<void> | undefined {
    return this.#watchers.registered;
  }

  /** A stream of changes at or below `prefix`. */
  watch(prefix: Key): ReadableStream<readonly Key[]> {
    this.#registration ??= { name: crypto.randomUUID(), prefixes: new Set() };
    const { prefixes } = this.#registration;
    if (!prefixes.has(encodeKey(prefix))) {
      prefixes.add(encodeKey(prefix));
      this.#watchers.register(() => this.#register());
    }
    return this.#watchers.watch(prefix);
  }

  /** Ends polling, renewals and retries. */
  stop(): void {
    this.#watchers.stop();
  }

  /** Removes the registration, so that commits do not notify of its keys any more. Does not fail. */
  async unregister(): Promise<void> {
    if (!this.#registration) return;
    await this.#connection.run(`DELETE FROM ${this.#connection.schema}.watching WHERE watcher = $1`, [
      this.#registration.name,
    ]).catch(() => {});
  }

  /** Ends all streams. */
  close(): void {
    this.#watchers.close();
  }

  async #register(): Promise<void> {
    await this.#prepareTables();
    if (this.#connection.isPooled) {
      return await this.#watchers.poll(() => this.#readLastVersion(), () => this.#hasOpenCommits());
    }
    if (!this.#listens) {
      this.#listens = true;
      await this.#listen();
    }
    await this.#announce();
  }

  async #readLastVersion(): Promise<string> {
    const [row] = await this.#connection.run<{ version: string }>(
      `SELECT last_value::text AS version FROM ${this.#connection.schema}.version`,
      [],
    );
    return row!.version;
  }

  /** Other sessions see the version of a commit before its records, but the lock that it holds meanwhile, too. */
  async #hasOpenCommits(): Promise<boolean> {
    const { schema } = this.#connection;
    const [row] = await this.#connection.run<{ open: boolean }>(
      `SELECT EXISTS (
         SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND (classid::bigint << 32 | objid::bigint)
             = hashtextextended('${schema}', '${schema}.record'::regclass::oid::bigint)
       ) AS open`,
      [],
    );
    return row!.open;
  }

  /** Listens to notifications, and renews the registration, from now on. */
  async #listen(): Promise<void> {
    this.#watchers.every(
      WATCH_RENEWAL_MS,
      () => Promise.all([this.#announce(), this.#connection.checkListener()]),
    );
    let lost = false;
    const listening = this.#connection.listen(
      this.#connection.schema,
      (payload) => this.#watchers.notify(payload),
      () => {
        // After a reconnection: changes may have been missed, and the registration may have expired.
        if (lost) this.#announce().catch(() => {}).then(() => this.#watchers.notify(undefined));
        lost = true;
      },
    );
    // postgres.js retries by itself.
    await listening.catch((error) => {
      lost = true;
      throw error;
    });
  }

  /** Writes the prefixes that are still watched. One call after the other, so that an older list does not replace a newer one. */
  #announce(): Promise<unknown> {
    const { name, prefixes } = this.#registration!;
    return this.#announced = this.#announced.catch(() => {}).then(() => {
      // Every commit compares its keys with these prefixes, and notifies all instances of a match.
      const watched = new Set(this.#watchers.prefixes.map(encodeKey));
      for (const prefix of prefixes) if (!watched.has(prefix)) prefixes.delete(prefix);
      return this.#connection.run<{ lapsed: boolean }>(
        `WITH before AS (SELECT FROM ${this.#connection.schema}.watching WHERE watcher = $1 AND until > now())
         INSERT INTO ${this.#connection.schema}.watching VALUES ($1, $2::text[], now() + interval '${
          3 * WATCH_RENEWAL_MS
        } milliseconds')
         ON CONFLICT (watcher) DO UPDATE SET prefixes = excluded.prefixes, until = excluded.until
         RETURNING NOT EXISTS (SELECT FROM before) AS lapsed`,
        [name, toArray([...prefixes], quote)],
      );
    }).then(([row]) => {
      // After a pause of the machine, for example: commits have not notified of their keys since.
      if (row!.lapsed && this.#isAnnounced) this.#watchers.notify(undefined);
      this.#isAnnounced = true;
    });
  }
}
