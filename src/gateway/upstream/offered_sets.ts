/**
 * What is offered to the callers of the sessions of one upstream: sessions with equal lists share one set.
 *
 * @module
 */
import type { UpstreamDefinition } from "./upstream_definition.ts";
import type { RawLists, UpstreamLists } from "./lists/upstream_lists.ts";

/** Lists, and the definitions that were made of them. */
interface OfferedSet {
  readonly raw: RawLists;
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

  /**
   * Makes a set unless it is there. The function `onMade` is called in the same turn, so that the set is in use from then,
   * with the lists that it was made of.
   */
  async make(
    digest: string,
    raw: RawLists,
    read: () => Promise<UpstreamLists>,
    onMade: (raw: RawLists) => void,
  ): Promise<void> {
    let set = this.#sets.get(digest);
    if (!set) {
      const lists = await read();
      set = this.#sets.get(digest) ?? { raw, lists, definitions: this.#define(lists) };
      this.#sets.set(digest, set);
    }
    onMade(set.raw);
  }

  /** Makes all definitions again. */
  define(): void {
    for (const set of this.#sets.values()) set.definitions = this.#define(set.lists);
  }

  retain(used: ReadonlySet<string | undefined>): void {
    for (const each of this.#sets.keys()) if (!used.has(each)) this.#sets.delete(each);
  }
}
