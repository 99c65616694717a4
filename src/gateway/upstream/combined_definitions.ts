/**
 * What several upstreams offer together, each definition with a name or URI of its own.
 *
 * @module
 */
import type { UpstreamDefinition } from "./upstream_definition.ts";

/** What one upstream offers. */
type Part = readonly UpstreamDefinition[];

/** Combinations that are kept. */
const MAX_COMBINATIONS = 1000;

/** The same lists give the same array, so that it can serve as the key of what is compiled from it. */
export class CombinedDefinitions {
  /** By the numbers of the lists. */
  readonly #combined = new Map<string, readonly UpstreamDefinition[]>();
  readonly #numbers = new WeakMap<readonly UpstreamDefinition[], number>();
  #lastNumber = 0;

  of(parts: readonly Part[]): readonly UpstreamDefinition[] {
    const key = parts.map((part) => this.#numberOf(part)).join();
    let all = this.#combined.get(key);
    if (!all) {
      this.#combined.set(key, all = withoutRepetitions(parts.flat()));
      if (this.#combined.size > MAX_COMBINATIONS) {
        this.#combined.delete(this.#combined.keys().next().value!);
      }
    }
    return all;
  }

  clear(): void {
    this.#combined.clear();
  }

  #numberOf(definitions: readonly UpstreamDefinition[]): number {
    let number = this.#numbers.get(definitions);
    if (number === undefined) this.#numbers.set(definitions, number = ++this.#lastNumber);
    return number;
  }
}

/** Different upstreams have different names and URIs; of one, two entries can get the same, and the first has it. */
function withoutRepetitions(definitions: readonly UpstreamDefinition[]): readonly UpstreamDefinition[] {
  const taken = new Set<string>();
  return definitions.filter((each) => {
    const key = identityOf(each);
    return !taken.has(key) && taken.add(key);
  });
}

function identityOf(definition: UpstreamDefinition): string {
  switch (definition.kind) {
    case "resource":
      return `resource ${definition.uri}`;
    case "resource_template":
      return `template ${definition.uriTemplate}`;
    default:
      return `${definition.kind} ${definition.name}`;
  }
}
