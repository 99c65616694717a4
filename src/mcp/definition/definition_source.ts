/**
 * Definitions that come from elsewhere and change while the server runs, such as the tools of other MCP servers, and what
 * a server offers in their place.
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import type { ConvertSchema } from "../schema/convert_schema.ts";
import type { Definition } from "./definition.ts";
import { type Definitions, flatten, placeOf } from "./group.ts";

/** Where a server gets definitions besides those in its options. */
export interface DefinitionSource {
  /** What it offers now. */
  current(): Definitions;
  /** Calls `onChange` after each change of what it offers. */
  watch(onChange: () => void): void;
  /** Resolves when `current` has its first answer. It settles within seconds, also without one. */
  ready?(): Promise<void>;
}

/** What an arrangement uses of its server. */
export interface ArrangeServer {
  /** Converts the schemas of the definitions, which must not be converted before the server is ready. */
  readonly convert: ConvertSchema;
  readonly observe: Observe;
}

/**
 * Chooses what clients are offered in place of all definitions, which have their middleware already. Called at start and
 * after each change. The first call may check only: then its result is never offered.
 */
export type Arrange = (definitions: readonly Definition[], server: ArrangeServer) => Definitions;

/** What identifies a definition among those of its kind. */
export function identityOf(definition: Definition): string {
  return `${definition.kind} ${placeOf(definition)}`;
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
