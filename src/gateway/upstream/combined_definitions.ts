/**
 * What several upstreams offer together, each definition with a name of its own.
 *
 * @module
 */
import { toMarkedName, toPrefix } from "./names.ts";
import type { UpstreamDefinition } from "./upstream_definition.ts";

/** An upstream, and what it offers. */
type Part = readonly [upstream: { readonly name: string }, definitions: readonly UpstreamDefinition[]];

/** Combinations that are kept. */
const MAX_COMBINATIONS = 1000;

/** The same lists give the same array, so that it can serve as the key of what is compiled from it. */
export class CombinedDefinitions {
  /** By the numbers of the lists. */
  readonly #combined = new Map<string, readonly UpstreamDefinition[]>();
  readonly #numbers = new WeakMap<readonly UpstreamDefinition[], number>();
  #lastNumber = 0;

  of(parts: readonly Part[]): readonly UpstreamDefinition[] {
    const key = parts.map(([, definitions]) => this.#numberOf(definitions)).join();
    let all = this.#combined.get(key);
    if (!all) {
      this.#combined.set(key, all = withDistinctNames(parts));
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

/** All definitions. Only upstreams that keep their names can have one name twice: the first in order has it. */
function withDistinctNames(
  parts: readonly Part[],
): readonly UpstreamDefinition[] {
  const taken = new Set<string>();
  return parts.flatMap(([{ name }, definitions]) =>
    definitions.flatMap((each): UpstreamDefinition[] => {
      const key = identityOf(each);
      if (!taken.has(key)) {
        taken.add(key);
        return [each];
      }
      // A resource has no other URI by which its upstream could be distinguished.
      if (each.kind !== "tool" && each.kind !== "prompt") return [];
      const renamed = { ...each, name: toMarkedName(toPrefix(name), each.originalName) };
      if (taken.has(identityOf(renamed))) return [];
      taken.add(identityOf(renamed));
      return [renamed];
    })
  );
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
