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
 * Long because a store is one class: each of its calls, and what connecting prepares for them.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { Buffer } from "node:buffer";
import { PeriodicTasks } from "../periodic_tasks.ts";
import { EngineClock } from "./engine_clock.ts";
import { ensureFormat, type FormatOptions } from "../format.ts";
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
import { type EngineTimeout, withinTimeout } from "./engine_timeout.ts";
import { completeClocks, SWEEP_BATCH_RECORDS, SweepGuard } from "../sweep_guard.ts";
import { PendingCalls } from "./pending_calls.ts";
import { Watchers } from "../watchers.ts";
import {
  type Connection,
  isUnavailable,
  openClient,
  openCluster,
  readAddress,
  reasonOf,
} from "./redis/connection.ts";
import { COMMIT, LIST, SWEEP } from "./redis/functions.ts";

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
  allowOlder: 1,
  create: 1,
  sweepEvery: 1,
  onWarning: 1,
  now: 1,
  monotonic: 1,
};

/** How long after its expiry Redis removes a record, so that its clock may differ from that of the instances. */
const REMOVAL_DELAY_MS = 300_000;
/** How often a watcher polls for commits in a cluster. */
const POLL_INTERVAL_MS = 500;

/** Opens a store. It connects at the first use. @throws {TypeError} for an invalid address */
export function redisStore(address: string, options: RedisOptions = {}): Store {
  checkNames("redisStore", options, NAMES);
  return new RedisStore(address, options);
}

class RedisStore implements Store {
  #durable: Guarantees["durable"] = "none";
  #connection: Connection;
  #prefix: string;
  #records: string;
  #indexes: string;
  /** The prefix of the channels of changes, one for each kind of record. */
  #channels: string;
  #timeout: EngineTimeout;
  #scripts: Promise<readonly string[]> | undefined;
  #ready: readonly string[] | undefined;
  #connecting: Promise<unknown> | undefined;
  #watchers = new Watchers();
  #registered: Promise<void> | undefined;
  /** The subscribed channels; a pattern for all of them. */
  #subscribed = new Set<string>();
  #isPolling = false;
  #tasks = new PeriodicTasks();
  #clock: EngineClock;
  #guard: SweepGuard;
  #measuring: Promise<void> | undefined;
  #onWarning: (message: string) => void;
  #create: boolean;
  #allowOlder: boolean;
  #pending = new PendingCalls();
  #closing: Promise<void> | undefined;
  /** `true` when no call is pending any more. */
  #closed = false;

  constructor(address: string, options: RedisOptions) {
    const { sweepEvery = 60_000, onWarning = () => {}, create = true, allowOlder = false } = options;
    const { url, name, timeout, isCluster } = readAddress(address);
    this.#prefix = `{${name}}:`;
    this.#records = this.#prefix + "r:";
    this.#indexes = this.#prefix + "i:";
    this.#channels = this.#prefix + "changes:";
    this.#timeout = {
      engine: "Redis",
      milliseconds: timeout * 1000,
      reasonOf: (error) => this.#closed || !isUnavailable(error) ? undefined : reasonOf(error),
      findFailure: () => this.#connection.findFailure(),
    };
    this.#connection = isCluster
      ? openCluster(url, this.#prefix, timeout * 1000)
      : openClient(url, timeout * 1000);
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
      if (!this.#ready || this.#registered) await this.#prepare();
      const found = await this.#send(["GET", this.#records + encodeKey(key)]) as Buffer | null;
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
      const ends = ["(" + low, "(" + high];
      const left = String(Math.min(limit, 1e6) - entries.length);
      const found = await this.#evaluate(1, [this.#indexes + kind], [
        this.#records,
        String(this.now()),
        ...ends,
        left,
        reverse ? "1" : "0",
      ]) as Buffer[];
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
      if (!this.#ready || this.#registered) await this.#prepare();
      const [keys, args] = this.#toCommand(commit);
      return await this.#evaluate(0, keys, args) === 1;
    } finally {
      this.#pending.end();
    }
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    const channel = this.#channels + (prefix.length > 0 ? encodeKey(prefix.slice(0, 1)) : "*");
    if (!this.#subscribed.has(channel)) {
      this.#subscribed.add(channel);
      // Later reads wait for the subscription, so that no change is missed between a read and the watch.
      const before = this.#registered?.catch(() => {}) ?? Promise.resolve();
      const registered: Promise<void> = before.then(() => this.#subscribe(channel)).finally(() => {
        if (this.#registered === registered) this.#registered = undefined;
      });
      registered.catch(() => this.#subscribeLater(channel));
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
      const args = [this.#records, this.#indexes, String(this.now()), String(SWEEP_BATCH_RECORDS)];
      const count = await this.#evaluate(2, [this.#prefix + "expiries"], args) as number;
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
    await this.#pending.close();
    this.#closed = true;
    this.#watchers.close();
    this.#connection.destroy();
  }

  /** The kinds that a prefix includes, in order, from the kind where the previous page ended. */
  async #kindsOf(prefix: Key, after: Key | undefined, reverse: boolean): Promise<readonly string[]> {
    if (prefix.length > 0) return [encodeKey(prefix.slice(0, 1))];
    await this.#prepare();
    const from = after ? "[" + encodeKey(after.slice(0, 1)) : reverse ? "+" : "-";
    const ends = reverse ? [from, "-", "BYLEX", "REV"] : [from, "+", "BYLEX"];
    const kinds = await this.#send(["ZRANGE", this.#prefix + "kinds", ...ends]) as Buffer[];
    return kinds.map(String);
  }

  #toCommand({ check = [], set = [], remove = [] }: Commit): [string[], (string | Buffer)[]] {
    const keys = [this.#prefix + "version", this.#prefix + "expiries", this.#prefix + "kinds"];
    const counts = [check.length, remove.length, set.length];
    const args: (string | Buffer)[] = [String(this.now()), this.#channels, ...counts.map(String)];
    const pushKeys = (key: Key): string => {
      const id = encodeKey(key);
      keys.push(this.#records + id, this.#indexes + encodeKey(key.slice(0, 1)));
      return id;
    };
    for (const { key, version } of check) {
      keys.push(this.#records + encodeKey(key));
      args.push(version ?? "");
    }
    for (const key of remove) args.push(pushKeys(key));
    for (const { key, value, expires } of set) {
      const until = expires === undefined ? undefined : Math.max(1, Math.ceil(expires));
      const isBytes = value instanceof Uint8Array;
      args.push(
        pushKeys(key),
        encodeKey(key.slice(0, 1)),
        until === undefined ? "-" : String(until),
        until === undefined ? "" : String(until + REMOVAL_DELAY_MS),
        isBytes ? "b" : "j",
        isBytes ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : JSON.stringify(value),
      );
    }
    return [keys, args];
  }

  /** Runs the Lua function with this number, and loads it again if the server has lost it. */
  async #evaluate(
    script: number,
    keys: readonly string[],
    args: readonly (string | Buffer)[],
  ): Promise<unknown> {
    for (let again = false;; again = true) {
      if (!this.#ready || this.#registered) await this.#prepare();
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
    await this.#registered;
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
    if (!this.#create && await this.#send(["GET", this.#prefix + "version"]) === null) {
      throw new StoreNotFoundError(`Redis has no key "${this.#prefix}version"`);
    }
    const loaded: string[] = [];
    for (const source of [COMMIT, LIST, SWEEP]) {
      loaded.push(String(await this.#send(["SCRIPT", "LOAD", source])));
    }
    await this.#readSettings();
    await this.#measureClock();
    await this.#ensureFormat(loaded);
    return loaded;
  }

  async #ensureFormat([commit, list]: readonly string[]): Promise<void> {
    const evaluate = (script: string, keys: readonly string[], args: readonly (string | Buffer)[]) =>
      this.#send(["EVALSHA", script, String(keys.length), ...keys, ...args]);
    await ensureFormat(async (step) => {
      if ("get" in step) {
        const found = await this.#send(["GET", this.#records + encodeKey(step.get)]) as Buffer | null;
        return found === null ? undefined : toEntry(step.get, found).value;
      }
      if ("list" in step) {
        const { low, high } = prefixRange(step.list);
        const found = await evaluate(list!, [this.#indexes + encodeKey(step.list)], [
          this.#records,
          "0",
          "(" + low,
          "(" + high,
          String(step.limit),
          "0",
        ]) as Buffer[];
        return found.filter((_, i) => i % 2 === 1).map((value) => toEntry(step.list, value).value);
      }
      const { put: key, value } = step;
      await evaluate(commit!, ...this.#toCommand({ check: [{ key, version: null }], set: [{ key, value }] }));
    }, { allowOlder: this.#allowOlder });
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

  async #readSettings(): Promise<void> {
    const info = String(await this.#send(["INFO"]));
    const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
    // Managed services often refuse CONFIG.
    const [, sync] = await this.#send(["CONFIG", "GET", "appendfsync"]).catch(() => []) as Buffer[];
    const keepsLog = read("aof_enabled") === "1";
    this.#durable = !keepsLog ? "none" : String(sync) === "always" ? "power" : "process";
    if (!keepsLog) {
      this.#onWarning(
        "Redis runs without an append-only file: acknowledged commits are lost when it stops. Set appendonly yes",
      );
    }
    const policy = read("maxmemory_policy");
    if (read("maxmemory") !== "0" && policy !== undefined && policy !== "noeviction") {
      this.#onWarning(
        `Redis may evict records when its memory is full (${policy}). Set maxmemory-policy noeviction`,
      );
    }
  }

  /** What changed meanwhile is unknown. */
  #subscribeLater(channel: string): void {
    const timer = setTimeout(() => {
      if (this.#closing) return;
      this.#subscribe(channel).then(() => this.#watchers.changedAll(), () => this.#subscribeLater(channel));
    }, POLL_INTERVAL_MS);
    (timer as unknown as { unref?: () => void }).unref?.();
  }

  async #subscribe(channel: string): Promise<void> {
    await this.#connect();
    if (this.#connection.subscribe) {
      return await this.#inTime(this.#connection.subscribe(channel, (message) => {
        // Subscriptions stay when their watchers have left.
        if (this.#watchers.size === 0) return;
        if (!message) return this.#watchers.changedAll();
        this.#watchers.changed((JSON.parse(message) as string[]).map(decodeKey));
      }));
    }
    if (this.#isPolling) return;
    const readVersion = async () => String(await this.#send(["GET", this.#prefix + "version"]));
    let seen = await readVersion();
    this.#isPolling = true;
    this.#tasks.every(POLL_INTERVAL_MS, async () => {
      await this.#connect();
      const version = await readVersion();
      if (version !== seen) this.#watchers.changedAll();
      seen = version;
    });
  }

  #send(args: readonly (string | Buffer)[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(new StoreClosedError());
    const began = performance.now();
    return this.#inTime(this.#connection.send(args), () => {
      if (this.#closed || !this.#connection.dropSilent(began)) return;
      // The next call connects.
      this.#ready = this.#connecting = undefined;
    });
  }

  #inTime<Result>(answer: Promise<Result>, onTimeout?: () => void): Promise<Result> {
    return withinTimeout(this.#timeout, answer, onTimeout);
  }
}

function toEntry<Value>(key: Key, found: Buffer): Entry<Value> {
  const first = found.indexOf(32);
  const second = found.indexOf(32, first + 1);
  const expires = found.toString("latin1", first + 1, second);
  const value = found[second + 1] === 98
    ? new Uint8Array(found.subarray(second + 2))
    : JSON.parse(found.toString("utf8", second + 2));
  const version = found.toString("latin1", 0, first);
  return expires === "-" ? { key, value, version } : { key, value, version, expires: Number(expires) };
}
