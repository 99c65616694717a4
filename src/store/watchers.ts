/**
 * The watched prefixes of one process: the part of `watch` that all drivers share.
 *
 * @module
 */
import type { Key } from "./store.ts";

interface Watcher {
  readonly prefix: Key;
  readonly stop: (() => void) | undefined;
}

/** Sends changed keys to the streams whose prefix contains them. */
export class Watchers {
  #watching = new Map<ReadableStreamDefaultController<readonly Key[]>, Watcher>();

  get size(): number {
    return this.#watching.size;
  }

  /** The prefixes that are watched now. */
  get prefixes(): readonly Key[] {
    return [...this.#watching.values()].map(({ prefix }) => prefix);
  }

  /**
   * A stream of changes at or below `prefix`; cancelling it ends the watch.
   * @param startPolling starts polling for changes by other instances, for this watcher alone; it calls `changed` for a change, and
   * returns the function that ends polling
   */
  watch(prefix: Key, startPolling?: (changed: () => void) => () => void): ReadableStream<readonly Key[]> {
    let mine: ReadableStreamDefaultController<readonly Key[]>;
    return new ReadableStream({
      start: (controller) => {
        mine = controller;
        const stop = startPolling?.(() => this.#watching.has(controller) && controller.enqueue([prefix]));
        this.#watching.set(controller, { prefix, stop });
      },
      cancel: () => {
        this.#watching.get(mine)?.stop?.();
        this.#watching.delete(mine);
      },
    });
  }

  /** Reports the keys that an acknowledged commit changed. */
  changed(keys: readonly Key[]): void {
    for (const [controller, { prefix }] of this.#watching) {
      const mine = keys.filter((key) => isAtOrBelow(prefix, key));
      if (mine.length > 0) controller.enqueue(mine);
    }
  }

  /** Reports to every watcher that anything below its prefix may have changed. */
  changedAll(): void {
    for (const [controller, { prefix }] of this.#watching) controller.enqueue([prefix]);
  }

  close(): void {
    for (const [controller, { stop }] of this.#watching) {
      stop?.();
      controller.close();
    }
    this.#watching.clear();
  }
}

function isAtOrBelow(prefix: Key, key: Key): boolean {
  return key.length >= prefix.length && prefix.every((part, i) => key[i] === part);
}
