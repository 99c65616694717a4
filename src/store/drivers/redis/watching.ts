/**
 * Watching in Redis: subscribes to the channels of the watched kinds of records, to which commits publish their keys. In a
 * cluster it polls the version of the last commit.
 *
 * @module
 */
import { decodeKey, encodeKey } from "../../key.ts";
import { PeriodicTasks } from "../../periodic_tasks.ts";
import type { Key } from "../../store.ts";
import { Watchers } from "../../watchers.ts";
import type { Connection } from "./connection.ts";
import type { Send } from "./preparation.ts";
import type { StoreKeys } from "./records.ts";

/** How often a watcher polls for commits in a cluster, and retries a subscription that failed. */
const POLL_INTERVAL_MS = 500;

/** What watching needs of its store. */
export interface WatchedServer {
  readonly keys: StoreKeys;
  /** Resolves when the server has the functions. */
  readonly connect: () => Promise<void>;
  readonly send: Send;
  /** Absent for a cluster. */
  readonly subscribe: Connection["subscribe"];
}

export class RedisWatching {
  readonly #server: WatchedServer;
  readonly #watchers = new Watchers();
  readonly #tasks = new PeriodicTasks();
  #registered: Promise<void> | undefined;
  /** The subscribed channels; a pattern for all of them. */
  readonly #subscribed = new Set<string>();
  #isPolling = false;
  #stopped = false;

  constructor(server: WatchedServer) {
    this.#server = server;
  }

  /**
   * Settles when every watch so far is subscribed; `undefined` when none is pending. Reads wait for it, so that no change is
   * missed between a read and the watch.
   */
  get registered(): Promise<void> | undefined {
    return this.#registered;
  }

  /** A stream of changes at or below `prefix`. */
  watch(prefix: Key): ReadableStream<readonly Key[]> {
    const channel = this.#server.keys.channels + (prefix.length > 0 ? encodeKey(prefix.slice(0, 1)) : "*");
    if (!this.#subscribed.has(channel)) {
      this.#subscribed.add(channel);
      const before = this.#registered?.catch(() => {}) ?? Promise.resolve();
      const registered: Promise<void> = before.then(() => this.#subscribe(channel)).finally(() => {
        if (this.#registered === registered) this.#registered = undefined;
      });
      registered.catch(() => this.#subscribeLater(channel));
      this.#registered = registered;
    }
    return this.#watchers.watch(prefix);
  }

  /** Ends polling and retries. */
  stop(): void {
    this.#stopped = true;
    this.#tasks.stop();
  }

  /** Ends all streams. */
  close(): void {
    this.#watchers.close();
  }

  /** Retries a subscription that failed because the engine is unavailable. What changed meanwhile is unknown. */
  #subscribeLater(channel: string): void {
    const timer = setTimeout(() => {
      if (this.#stopped) return;
      this.#subscribe(channel).then(() => this.#watchers.changedAll(), () => this.#subscribeLater(channel));
    }, POLL_INTERVAL_MS);
    (timer as unknown as { unref?: () => void }).unref?.();
  }

  async #subscribe(channel: string): Promise<void> {
    const { connect, subscribe } = this.#server;
    await connect();
    if (!subscribe) return await this.#poll();
    await subscribe(channel, (message) => {
      // Subscriptions stay when their watchers have left.
      if (this.#watchers.size === 0) return;
      if (!message) return this.#watchers.changedAll();
      this.#watchers.changed((JSON.parse(message) as string[]).map(decodeKey));
    });
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    const { keys, connect, send } = this.#server;
    const readVersion = async () => String(await send(["GET", keys.version]));
    let seen = await readVersion();
    this.#isPolling = true;
    this.#tasks.every(POLL_INTERVAL_MS, async () => {
      await connect();
      const version = await readVersion();
      if (version !== seen) this.#watchers.changedAll();
      seen = version;
    });
  }
}
