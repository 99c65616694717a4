/**
 * Wakes streams and calls when another instance changed a record that they wait for, with a single watch of the store per
 * process. Watched records have keys below `mcp`; the topic is the part of the key after that which names one thing.
 *
 * @module
 */
import type { Key, Store } from "../../store/store.ts";

/** `key` is what changed; `undefined` means that anything may have changed. */
export type Listener = (key: Key | undefined) => void;

const ROOT = "mcp";

/** The number of key parts in a topic, after the root, by kind of record. By default all of them. */
const TOPIC_LENGTH: Readonly<Record<string, number>> = { event: 3, change: 1, session: 2 };

/**
 * The topics of the streams of sessions, of which there can be thousands, mostly idle. A store that is polled reports every
 * commit as a change of anything, and each stream would read the store for each: they are notified at most as often as this
 * many milliseconds for each of them.
 */
const IDLE_TOPIC = /^(?:stream|session)\n/;
const MS_PER_IDLE_LISTENER = 1;

/** The key of a watched record. */
export function watchedKey(...parts: readonly (string | number)[]): Key {
  return [ROOT, ...parts];
}

/** Calls listeners with the changed keys of their topic. */
export class Wakeups {
  readonly #store: Store;
  readonly #isAlone: boolean;
  readonly #isIsolated: () => boolean;
  /** By topic. Lists, never changed in place: most topics have one listener, for which a set takes 200 bytes more. */
  readonly #listeners = new Map<string, readonly Listener[]>();
  #reader: ReadableStreamDefaultReader<readonly Key[]> | undefined;
  /** When the listeners to idle topics may be notified again that anything may have changed, by `performance.now()`. */
  #nextIdle = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param isIsolated whether requests may not share a watch: see `RequestContext.isIsolated`
   * @param isAlone whether it serves a single listener
   */
  constructor(store: Store, isIsolated: () => boolean = () => false, isAlone = false) {
    this.#store = store;
    this.#isIsolated = isIsolated;
    this.#isAlone = isAlone;
  }

  /** Whether each request needs a watch of its own, and what is read with it. */
  get isIsolated(): boolean {
    return this.#isIsolated();
  }

  /** Whether anything may have changed of which the listeners to idle topics are not notified yet. */
  get isBehind(): boolean {
    return this.#timer !== undefined;
  }

  /** Listens from now on: reads after this call miss no change. Returns the function that ends it. */
  listen(topic: readonly (string | number)[], listener: Listener): () => void {
    if (this.isIsolated && !this.#isAlone) {
      return new Wakeups(this.#store, this.#isIsolated, true).listen(topic, listener);
    }
    const name = topic.join("\n");
    const known = this.#listeners.get(name);
    this.#listeners.set(name, known ? [...known, listener] : [listener]);
    if (!this.#reader) this.#watch();
    return () => {
      const rest = this.#listeners.get(name)?.filter((each) => each !== listener) ?? [];
      if (rest.length > 0) this.#listeners.set(name, rest);
      else this.#listeners.delete(name);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#reader?.cancel().catch(() => {});
      this.#reader = undefined;
    };
  }

  #watch(): void {
    const reader = this.#store.watch([ROOT]).getReader();
    this.#reader = reader;
    const read = async (): Promise<void> => {
      for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
        for (const key of value!) this.#notify(key);
      }
    };
    // When the watch ends or fails nothing wakes: those who wait also poll.
    read().catch(() => {}).finally(() => {
      if (this.#reader === reader) this.#reader = undefined;
    });
  }

  #notify(key: Key): void {
    if (key.length === 1) {
      this.#notifyAll(false);
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#nextIdle = performance.now() + MS_PER_IDLE_LISTENER * this.#notifyAll(true);
      }, Math.max(0, this.#nextIdle - performance.now()));
      return;
    }
    const topic = key.slice(1, 1 + (TOPIC_LENGTH[key[1]!] ?? key.length)).join("\n");
    for (const listener of this.#listeners.get(topic) ?? []) listener(key);
  }

  /** Tells the listeners to topics that are idle, or are not, that anything may have changed. @returns their number */
  #notifyAll(isIdle: boolean): number {
    let count = 0;
    for (const [topic, listeners] of this.#listeners) {
      if (IDLE_TOPIC.test(topic) !== isIdle) continue;
      for (const listener of listeners) listener(undefined);
      count += listeners.length;
    }
    return count;
  }
}
