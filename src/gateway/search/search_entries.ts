/**
 * Finds the tools and skills that a caller may use.
 *
 * @module
 */
import type { CallContext } from "../../mcp/context.ts";
import type { Definition } from "../../mcp/definition/definition.ts";
import type { ArrangeServer } from "../../mcp/definition/definition_source.ts";
import { lazy } from "../../mcp/lazy.ts";
import { type CallableTool, type CallableTools, scopeCheck } from "./callable_tools.ts";
import { fuseRankings, type RankEntries, type SearchEntry } from "./rank.ts";
import { createSearchIndex } from "./search_index.ts";
import { findSkillLister } from "./skill_entries.ts";
import { toFields } from "./tool_fields.ts";

/** Entries of each ranking before they are combined. */
const MAX_RANKED = 100;

export interface FoundEntry {
  readonly entry: SearchEntry;
  /** Absent for a skill. */
  readonly tool: CallableTool | undefined;
}

/** Finds at most `limit` entries for a query, the best first. */
export type SearchEntries = (query: string, limit: number, context: CallContext) => Promise<FoundEntry[]>;

export function createSearchEntries(
  tools: CallableTools,
  definitions: readonly Definition[],
  { observe }: ArrangeServer,
  rank: RankEntries | undefined,
): SearchEntries {
  const entries = tools.list.map(({ name, title, description = "" }): SearchEntry => ({
    kind: "tool",
    name,
    title,
    description,
  }));
  const places = new Map(entries.map((entry, at) => [entry, at]));
  const listSkills = findSkillLister(definitions);
  // At the first search: a server that starts waits for nothing, and on Workers cannot.
  const index = lazy(() => createSearchIndex(tools.list.map(toFields)));

  return async (query, limit, context) => {
    const { search, score } = await index.load();
    const holds = scopeCheck(context);
    const isAllowed = (at: number) => holds(tools.list[at]!.compiled.scopes);
    const hits = search(query, rank ? MAX_RANKED : limit, isAllowed)
      .map(({ at, score }) => ({ entry: entries[at]!, score }));
    const skills = await listSkills?.(context) ?? [];
    for (const entry of skills) {
      const { name, description } = entry;
      const fields = { name, title: "", description, parameters: "", parameterDescriptions: "" };
      hits.push({ entry, score: score(query, fields) });
    }
    let ranking = hits.filter((hit) => hit.score > 0).sort((a, b) => b.score - a.score)
      .slice(0, rank ? MAX_RANKED : limit).map(({ entry }) => entry);
    if (rank) {
      const usable = [...entries.filter((_, at) => isAllowed(at)), ...skills];
      const known = new Set(usable);
      try {
        const other = await rank(query, usable, context.signal);
        ranking = fuseRankings(ranking, other.filter((entry) => known.has(entry)).slice(0, MAX_RANKED));
      } catch (error) {
        // The words alone still find something.
        observe({ type: "fault", where: "search rank", error });
      }
    }
    return ranking.slice(0, limit).map((entry) => ({ entry, tool: tools.list[places.get(entry) ?? -1] }));
  };
}
