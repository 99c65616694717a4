/**
 * Watching in PostgreSQL: an instance registers the prefixes that it watches in a table, commits compare their keys with
 * them and send NOTIFY, and the instance listens. Behind a pooler in transaction mode, which does not support LISTEN, it
 * polls the version of the last commit.
 *
 * @module
 */
import { decodeKey, encodeKey } from "../../key.ts";
import { PeriodicTasks } from "../../periodic_tasks.ts";
import type { Key } from "../../store.ts";
import { Watchers } from "../../watchers.ts";
import type { PostgresConnection } from "./connection.ts";
import { quote, toArray } from "./rows.ts";

/** How often a watcher renews its registration, which expires after three times as long. */
const WATCH_RENEWAL_MS = 20_000;
/** How often a watcher polls for commits when it cannot use LISTEN, and retries a registration that failed. */
const POLL_INTERVAL_MS = 500;

/** The row of an instance in the table of watched prefixes. */
interface Registration {
  readonly name: string;
  readonly prefixes: Set<string>;
}

export class PostgresWatching {
  readonly #connection: PostgresConnection;
  readonly #prepareTables: () => Promise<void>;
  readonly #watchers = new Watchers();
  readonly #tasks = new PeriodicTasks();
  /** Absent until the first watch: on workerd, random names are made in requests only. */
  #registration: Registration | undefined;
  #registered: Promise<void> | undefined;
  #announced: Promise<unknown> = Promise.resolve();
  #listens = false;
  #seenVersion = "";
  #stopped = false;

  /** @param prepareTables resolves when the database has its tables */
  constructor(connection: PostgresConnection, prepareTables: () => Promise<void>) {
    this.#connection = connection;
    this.#prepareTables = prepareTables;
  }

  /**
   * Settles when every watch so far is registered; `undefined` when none is pending. Reads wait for it, so that no change is
   * missed between a read and the watch.
   */
  get registered(): Promise<void> | undefined {
    return this.#registered;
  }

  /** A stream of changes at or below `prefix`. */
  watch(prefix: Key): ReadableStream<readonly Key[]> {
    this.#registration ??= { name: crypto.randomUUID(), prefixes: new Set() };
    const { prefixes } = this.#registration;
    if (!prefixes.has(encodeKey(prefix))) {
      prefixes.add(encodeKey(prefix));
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

  /** Ends polling, renewals and retries. */
  stop(): void {
    this.#stopped = true;
    this.#tasks.stop();
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
    if (this.#connection.isPooled) return await this.#poll();
    if (!this.#listens) {
      this.#listens = true;
      await this.#listen();
    }
    await this.#announce();
  }

  /** Retries a registration that failed because the engine is unavailable. */
  #registerLater(): void {
    const timer = setTimeout(() => {
      if (this.#stopped) return;
      this.#register().then(() => this.#watchers.changedAll(), () => this.#registerLater());
    }, POLL_INTERVAL_MS);
    (timer as unknown as { unref?: () => void }).unref?.();
  }

  async #poll(): Promise<void> {
    if (this.#seenVersion !== "") return;
    this.#seenVersion = await this.#readLastVersion();
    this.#tasks.every(POLL_INTERVAL_MS, async () => {
      const version = await this.#readLastVersion();
      if (version === this.#seenVersion) return;
      this.#seenVersion = version;
      this.#watchers.changedAll();
    });
  }

  async #readLastVersion(): Promise<string> {
    const [row] = await this.#connection.run<{ version: string }>(
      `SELECT last_value::text AS version FROM ${this.#connection.schema}.version`,
      [],
    );
    return row!.version;
  }

  /** Listens to notifications, and renews the registration, from now on. */
  async #listen(): Promise<void> {
    this.#tasks.every(
      WATCH_RENEWAL_MS,
      () => Promise.all([this.#announce(), this.#connection.checkListener()]),
    );
    let lost = false;
    const onNotification = (payload: string) => {
      // Others may watch when this instance does not any more.
      if (this.#watchers.size === 0) return;
      if (payload === "") this.#watchers.changedAll();
      else this.#watchers.changed((JSON.parse(payload) as string[]).map(decodeKey));
    };
    const listening = this.#connection.listen(this.#connection.schema, onNotification, () => {
      // After a reconnection: changes may have been missed, and the registration may have expired.
      if (lost) this.#announce().catch(() => {}).then(() => this.#watchers.changedAll());
      lost = true;
    });
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
      return this.#connection.run(
        `INSERT INTO ${this.#connection.schema}.watching VALUES ($1, $2::text[], now() + interval '${
          3 * WATCH_RENEWAL_MS
        } milliseconds')
         ON CONFLICT (watcher) DO UPDATE SET prefixes = excluded.prefixes, until = excluded.until`,
        [name, toArray([...prefixes], quote)],
      );
    });
  }
}
