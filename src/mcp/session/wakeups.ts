/**
 * Hearing of what other instances wrote: one watch of the store per process, however many streams and calls wait.
 * Records that somebody may wait for lie below `mcp`; a topic is the rest of their keys, as far as it names one thing.
 *
 * @module
 */
import { areRequestsApart } from "../http/requests_apart.ts";
import { type Key, type Store, StoreUnavailableError } from "../../store/store.ts";

/** `key` is what changed; `undefined` says that anything may have: look again. */
export type Listener = (key: Key | undefined) => void;

const ROOT = "mcp";

/** How many parts of a key name its topic, after the root; all others have as many as they have. */
const TOPIC_LENGTH: Readonly<Record<string, number>> = { event: 3, change: 1, session: 2 };

/** The key of a record that others hear of. */
export function wakingKey(...parts: readonly (string | number)[]): Key {
  return [ROOT, ...parts];
}

/**
 * What whoever waits does about a store that is away: nothing, since it looks again.
 * @throws what will not pass by itself
 */
export function passOver(error: unknown): undefined {
  if (!(error instanceof StoreUnavailableError)) throw error;
}

/** Hands changed keys to those who listen to their topic. */
export class Wakeups {
  readonly #store: Store;
  readonly #isAlone: boolean;
  readonly #listeners = new Map<string, Set<Listener>>();
  #reader: ReadableStreamDefaultReader<readonly Key[]> | undefined;

  /** @param isAlone serves one listener */
  constructor(store: Store, isAlone = false) {
    this.#store = store;
    this.#isAlone = isAlone;
  }

  /** Listens from now on: what is read after this call misses nothing. Gives the function that ends it. */
  listen(topic: readonly (string | number)[], listener: Listener): () => void {
    if (areRequestsApart() && !this.#isAlone) return new Wakeups(this.#store, true).listen(topic, listener);
    const name = topic.join("\n");
    let listeners = this.#listeners.get(name);
    if (!listeners) this.#listeners.set(name, listeners = new Set());
    listeners.add(listener);
    if (!this.#reader) this.#watch();
    return () => {
      if (!listeners.delete(listener)) return;
      if (listeners.size === 0) this.#listeners.delete(name);
      if (this.#listeners.size > 0) return;
      this.#reader?.cancel().catch(() => {});
      this.#reader = undefined;
    };
  }

  #watch(): void {
    const reader = this.#store.watch([ROOT]).getReader();
    this.#reader = reader;
    const read = async (): Promise<void> => {
      for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
        for (const key of value!) this.#tell(key);
      }
    };
    // A store that closed or failed wakes nobody: whoever waits also looks by the clock.
    read().catch(() => {}).finally(() => {
      if (this.#reader === reader) this.#reader = undefined;
    });
  }

  #tell(key: Key): void {
    if (key.length === 1) {
      for (const listeners of this.#listeners.values()) for (const listener of listeners) listener(undefined);
      return;
    }
    const topic = key.slice(1, 1 + (TOPIC_LENGTH[key[1]!] ?? key.length)).join("\n");
    for (const listener of this.#listeners.get(topic) ?? []) listener(key);
  }
}
