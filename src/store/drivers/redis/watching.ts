/**
 * Watching in Redis: subscribes to the channels of the watched kinds of records, to which commits publish their keys. In a
 * cluster it polls the version of the last commit.
 *
 * @module
 */
import { encodeKey } from "../../key.ts";
import type { Key } from "../../store.ts";
import { EngineWatchers } from "../engine_watchers.ts";
import type { Connection } from "./connection.ts";
import type { Send } from "./preparation.ts";
import type { StoreKeys } from "./records.ts";

/** What watching needs of its store. */
export interface WatchedServer {
  readonly keys: StoreKeys;
  /** Resolves when the server has the functions. */
  readonly connect: () => Promise<void>;
  readonly send: Send;
  /** Absent for a cluster. */
  readonly subscribe: Connection["subscribe"];
}

/** The watches of one instance. */
export class RedisWatching {
  readonly #server: WatchedServer;
  readonly #watchers = new EngineWatchers();
  /** The subscribed channels; a pattern for all of them. */
  readonly #subscribed = new Set<string>();

  constructor(server: WatchedServer) {
    this.#server = server;
  }

  /** As {@linkcode EngineWatchers.registered}. */
  get registered(): Promise<void> | undefined {
    return this.#watchers.registered;
  }

  /** A stream of changes at or below `prefix`. */
  watch(prefix: Key): ReadableStream<readonly Key[]> {
    const channel = this.#server.keys.channels + (prefix.length > 0 ? encodeKey(prefix.slice(0, 1)) : "*");
    if (!this.#subscribed.has(channel)) {
      this.#subscribed.add(channel);
      this.#watchers.register(() => this.#subscribe(channel));
    }
    return this.#watchers.watch(prefix);
  }

  /** Ends polling and retries. */
  stop(): void {
    this.#watchers.stop();
  }

  /** Ends all streams. */
  close(): void {
    this.#watchers.close();
  }

  async #subscribe(channel: string): Promise<void> {
    const { keys, connect, send, subscribe } = this.#server;
    await connect();
    if (subscribe) return await subscribe(channel, (message) => this.#watchers.notify(message));
    await this.#watchers.poll(async () => {
      await connect();
      return String(await send(["GET", keys.version]));
    });
  }
}
