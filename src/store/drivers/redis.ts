/**
 * The store in Redis or Valkey (7 or newer), through node-redis: any number of instances on one server.
 *
 * A record is one string: a head (`<version> <expires or -> <j|b>`) and the value. Each kind also has a sorted set of its
 * keys, for lists, and one sorted set has the expiries. A commit is one Lua function, which the server runs atomically.
 * Redis removes expired records by itself; a sweep removes their keys from the sets.
 *
 * The address is a `redis://` or `rediss://` URL, with `name` (default `trivet`) and `timeout` (seconds, default 5).
 * All keys of a store have one hash tag, `{name}`, so they are in one slot: in a cluster (`cluster=true`) a store has the
 * failover of its node, but is not distributed over nodes, and `watch` polls.
 *
 * What an acknowledged commit survives depends on the server's settings `appendonly` and `appendfsync`. The driver reads
 * them when it connects, reports them in `guarantees`, and warns when nothing is persistent. Replication is asynchronous:
 * after a failover the last writes may be missing. Use PostgreSQL if a failover must never undo a revocation.
 *
 * @module
 */
import type { Buffer } from "node:buffer";
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
  StoreNotFoundError,
} from "../store.ts";
import { completeClocks, SWEEP_BATCH_RECORDS, SweepGuard } from "../sweep_guard.ts";
import { EngineClock } from "./engine_clock.ts";
import { type EngineTimeout, withinTimeout } from "./engine_timeout.ts";
import { PendingCalls } from "./pending_calls.ts";
import { type Connection, isUnavailable, openConnection, readAddress, reasonOf } from "./redis/connection.ts";
import { checkFormat, checkPublish, loadFunctions, readSettings, type Send } from "./redis/preparation.ts";
import { type Argument, type StoreKeys, storeKeysOf, toCommand, toEntry } from "./redis/records.ts";
import { RedisWatching } from "./redis/watching.ts";
export type { Store } from "../store.ts";

/** Options of the store in Redis. */
export interface RedisOptions extends FormatOptions {
  /** Whether a store is created where there is none; else the first use fails. @default true */
  readonly create?: boolean;
  /** How often keys of expired records are removed from the sets, in milliseconds. @default 60000 */
  readonly sweepEvery?: number;
  /** Called with a warning when settings of the server weaken the guarantees of this driver. */
  readonly onWarning?: (message: string) => void;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
  /** Milliseconds since any moment, for tests. @default `now`, else `performance.now()` */
  readonly monotonic?: () => number;
}

const NAMES: Names<RedisOptions> = {
  allowOlder: "boolean",
  create: "boolean",
  sweepEvery: "number",
  onWarning: "function",
  now: "function",
  monotonic: "function",
};

/** Opens a store. It connects at the first use. @throws {TypeError} for an invalid address */
export function redisStore(address: string, options: RedisOptions = {}): Store {
  checkNames("redisStore", options, NAMES);
  return new RedisStore(address, options);
}

class RedisStore implements Store {
  #durable: Guarantees["durable"] = "none";
  readonly #connection: Connection;
  readonly #keys: StoreKeys;
  readonly #timeout: EngineTimeout;
  #scripts: Promise<readonly string[]> | undefined;
  #ready: readonly string[] | undefined;
  #connecting: Promise<unknown> | undefined;
  readonly #watching: RedisWatching;
  readonly #tasks = new PeriodicTasks();
  readonly #clock: EngineClock;
  readonly #guard: SweepGuard;
  #measuring: Promise<void> | undefined;
  readonly #onWarning: (message: string) => void;
  readonly #create: boolean;
  readonly #allowOlder: boolean;
  readonly #pending = new PendingCalls();
  #closing: Promise<void> | undefined;
  /** `true` when no call is pending any more. */
  #closed = false;

  readonly #send: Send = (args) => {
    if (this.#closed) return Promise.reject(new StoreClosedError());
    const began = performance.now();
    return this.#inTime(
      this.#connection.send(args),
      () => this.#closed || this.#connection.dropSilent(began),
    );
  };

  constructor(address: string, options: RedisOptions) {
    const sweepEvery = checkWhole("redisStore.sweepEvery", options.sweepEvery ?? 60_000, 1);
    const { onWarning = () => {}, create = true, allowOlder = false } = options;
    const parsed = readAddress(address);
    this.#keys = storeKeysOf(parsed.name);
    this.#timeout = {
      engine: "Redis",
      milliseconds: parsed.timeout * 1000,
      reasonOf: (error) => this.#closed || !isUnavailable(error) ? undefined : reasonOf(error),
      findFailure: () => this.#connection.findFailure(),
    };
    this.#connection = openConnection(parsed, this.#keys.version, () => {
      // The next call connects.
      this.#ready = this.#connecting = undefined;
    });
    const { subscribe } = this.#connection;
    this.#watching = new RedisWatching({
      keys: this.#keys,
      connect: () => this.#connect(),
      send: this.#send,
      subscribe: subscribe && ((channel, onMessage) => this.#inTime(subscribe(channel, onMessage))),
    });
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

  /** `durable` is `"none"` until the driver has connected and read the settings. */
  get guarantees(): Guarantees {
    return { atomic: true, readYourWrites: true, durable: this.#durable };
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    this.#pending.begin();
    try {
      if (!this.#ready || this.#watching.registered) await this.#prepare();
      const found = await this.#send(["GET", this.#keys.records + encodeKey(key)]) as Buffer | null;
      if (found === null) return undefined;
      const entry = toEntry<Value>(key, found);
      return entry.expires === undefined || entry.expires > this.now() ? entry : undefined;
    } finally {
      this.#pending.end();
    }
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    this.#pending.begin();
    try {
      return await this.#list<Value>(prefix, options);
    } finally {
      this.#pending.end();
    }
  }

  async #list<Value>(prefix: Key, options: ListOptions): Promise<Entry<Value>[]> {
    const { after, limit = 100, reverse = false } = options;
    if (limit <= 0) return [];
    const { low, high } = pageRange(prefix, options);
    const entries: Entry<Value>[] = [];
    for (const kind of await this.#kindsOf(prefix, after, reverse)) {
      const left = String(Math.min(limit, 1e6) - entries.length);
      const args = [this.#keys.records, String(this.now()), "(" + low, "(" + high, left, reverse ? "1" : "0"];
      const found = await this.#evaluate(1, [this.#keys.indexes + kind], args) as Buffer[];
      for (let i = 0; i < found.length; i += 2) {
        entries.push(toEntry(decodeKey(found[i]!.toString()), found[i + 1]!));
      }
      if (entries.length >= limit) break;
    }
    return entries;
  }

  async commit(commit: Commit): Promise<boolean> {
    this.#pending.begin();
    try {
      if (!this.#ready || this.#watching.registered) await this.#prepare();
      const [keys, args] = toCommand(this.#keys, this.now(), commit);
      return await this.#evaluate(0, keys, args) === 1;
    } finally {
      this.#pending.end();
    }
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    return this.#watching.watch(prefix);
  }

  async sweep(): Promise<number> {
    await this.#prepare();
    if (this.#clock.isDue()) await this.#measureClock();
    if (!this.#guard.maySweep()) return 0;
    let removed = 0;
    while (!this.#closing) {
      const args = [this.#keys.records, this.#keys.indexes, String(this.now()), String(SWEEP_BATCH_RECORDS)];
      const count = await this.#evaluate(2, [this.#keys.expiries], args) as number;
      removed += count;
      if (count < SWEEP_BATCH_RECORDS) break;
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
    this.#closed = true;
    this.#watching.close();
    this.#connection.destroy();
  }

  /** The kinds that a prefix includes, in order, from the kind where the previous page ended. */
  async #kindsOf(prefix: Key, after: Key | undefined, reverse: boolean): Promise<readonly string[]> {
    if (prefix.length > 0) return [encodeKey(prefix.slice(0, 1))];
    await this.#prepare();
    const from = after ? "[" + encodeKey(after.slice(0, 1)) : reverse ? "+" : "-";
    const ends = reverse ? [from, "-", "BYLEX", "REV"] : [from, "+", "BYLEX"];
    const kinds = await this.#send(["ZRANGE", this.#keys.kinds, ...ends]) as Buffer[];
    return kinds.map(String);
  }

  /** Runs the Lua function with this number, and loads it again if the server has lost it. */
  async #evaluate(script: number, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    for (let again = false;; again = true) {
      while (!this.#ready || this.#watching.registered) await this.#prepare();
      try {
        return await this.#send(["EVALSHA", this.#ready![script]!, String(keys.length), ...keys, ...args]);
      } catch (error) {
        // The function did not run.
        if (again || !(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
        this.#ready = this.#scripts = undefined;
      }
    }
  }

  /** Resolves when the server has the functions and every watch so far is subscribed. */
  async #prepare(): Promise<void> {
    await this.#connect();
    await this.#watching.registered;
  }

  async #connect(): Promise<void> {
    if (this.#closed) throw new StoreClosedError();
    if (!this.#ready) {
      if (!this.#connecting) {
        // Retries until it succeeds or the connection is dropped. Callers wait no longer than the timeout.
        const connecting = this.#connecting = this.#connection.connect();
        connecting.catch(() => {
          if (this.#connecting === connecting) this.#connecting = undefined;
        });
      }
      await this.#inTime(this.#connecting);
      this.#scripts ??= this.#load().finally(() => this.#scripts = undefined);
      this.#ready = await this.#scripts;
    }
  }

  async #load(): Promise<readonly string[]> {
    if (!this.#create && await this.#send(["GET", this.#keys.version]) === null) {
      throw new StoreNotFoundError(`Redis has no key "${this.#keys.version}"`);
    }
    const functions = await loadFunctions(this.#send);
    const { durable, warnings } = await readSettings(this.#send);
    this.#durable = durable;
    for (const warning of warnings) this.#onWarning(warning);
    await this.#measureClock();
    await checkPublish(this.#send, this.#keys);
    await checkFormat(this.#send, this.#keys, functions, this.now(), { allowOlder: this.#allowOlder });
    return functions;
  }

  /** Measures the clock of the engine again, because the system clock was set or the machine slept. */
  #measureSoon(): void {
    this.#measuring ??= this.#measureClock().catch(() => {}).finally(() => this.#measuring = undefined);
  }

  async #measureClock(): Promise<void> {
    await this.#clock.measure(async () => {
      const [seconds, microseconds] = await this.#send(["TIME"]) as Buffer[];
      return Number(seconds) * 1000 + Number(microseconds) / 1000;
    });
  }

  #inTime<Result>(answer: Promise<Result>, onTimeout?: () => void): Promise<Result> {
    return withinTimeout(this.#timeout, answer, onTimeout);
  }
}
