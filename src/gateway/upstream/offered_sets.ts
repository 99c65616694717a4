/**
 * What is offered to the callers of the sessions of one upstream: sessions with equal lists share one set.
 *
 * @module
 */
import type { UpstreamDefinition } from "./upstream_definition.ts";
import type { UpstreamLists } from "./lists/upstream_lists.ts";

/** Lists, and the definitions that were made of them. */
interface OfferedSet {
  readonly lists: UpstreamLists;
  definitions: readonly UpstreamDefinition[];
}

export class OfferedSets {
  /** By the digest of the lists. */
  readonly #sets = new Map<string, OfferedSet>();
  readonly #define: (lists: UpstreamLists) => readonly UpstreamDefinition[];

  constructor(define: (lists: UpstreamLists) => readonly UpstreamDefinition[]) {
    this.#define = define;
  }

  get(digest: string | undefined): Readonly<OfferedSet> | undefined {
    return digest === undefined ? undefined : this.#sets.get(digest);
  }

  /** Makes a set unless it is there. The function `onMade` is called in the same turn, so that the set is in use from then. */
  async make(digest: string, read: () => Promise<UpstreamLists>, onMade: () => void): Promise<void> {
    if (!this.#sets.has(digest)) {
      const lists = await read();
      if (!this.#sets.has(digest)) this.#sets.set(digest, { lists, definitions: this.#define(lists) });
    }
    onMade();
  }

  /** Makes all definitions again. */
  define(): void {
    for (const set of this.#sets.values()) set.definitions = this.#define(set.lists);
  }

  retain(used: ReadonlySet<string | undefined>): void {
    for (const each of this.#sets.keys()) if (!used.has(each)) this.#sets.delete(each);
  }
}
