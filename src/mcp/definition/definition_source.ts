/**
 * Definitions that come from elsewhere and change while the server runs, such as the tools of other MCP servers.
 *
 * @module
 */
import type { Definition } from "./definition.ts";
import { type Definitions, flatten } from "./group.ts";

/** Where a server gets definitions besides those in its options. */
export interface DefinitionSource {
  /** What it offers now. */
  current(): Definitions;
  /** Calls `onChange` after each change of what it offers. */
  watch(onChange: () => void): void;
  /** Resolves when `current` has its first answer. It settles within seconds, also without one. */
  ready?(): Promise<void>;
}

/** What identifies a definition among those of its kind. */
export function identityOf(definition: Definition): string {
  switch (definition.kind) {
    case "resource":
      return `resource ${definition.uri}`;
    case "resource_template":
      return `resource_template ${definition.uriTemplate}`;
    default:
      return `${definition.kind} ${definition.name}`;
  }
}

/** The server's definitions and then those of the sources. Of two with one name or URI the first is kept. */
export function withSources(own: Definitions, sources: readonly DefinitionSource[]): Definition[] {
  const all = flatten(own);
  if (sources.length === 0) return all;
  const taken = new Set(all.filter(Boolean).map(identityOf));
  for (const each of flatten(sources.map((source) => source.current()))) {
    const identity = identityOf(each);
    if (!taken.has(identity)) all.push(each);
    taken.add(identity);
  }
  return all;
}
