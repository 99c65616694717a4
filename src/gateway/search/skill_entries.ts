/**
 * The skills of a server as entries of a search. Its own are found through the resource template that lists them for a
 * caller (`mcp/skills/skills.ts`), those of upstreams among the definitions. All are read with the tool `load_skill`.
 *
 * @module
 */
import type { CallContext } from "../../mcp/context.ts";
import type { Definition, ResourceTemplateDefinition } from "../../mcp/definition/definition.ts";
import { SKILL_FILES } from "../../mcp/skills/skills.ts";
import { isUpstreamSkill } from "../upstream/upstream_definition.ts";
import { scopeCheck } from "./callable_tools.ts";

export const LOAD_SKILL = "load_skill";

export interface SkillEntry {
  readonly kind: "skill";
  readonly name: string;
  readonly description: string;
}

/** Lists the skills that a caller may see and load; `undefined` for a server without skills. */
export function findSkillLister(
  definitions: readonly Definition[],
): ((context: CallContext) => Promise<readonly SkillEntry[]>) | undefined {
  const template = definitions.find((each): each is ResourceTemplateDefinition =>
    each?.kind === "resource_template" && each.uriTemplate === SKILL_FILES
  );
  const loader = definitions.find((each) => each?.kind === "tool" && each.name === LOAD_SKILL);
  if (!template?.list || !loader) return undefined;
  const ofUpstreams = definitions.filter(isUpstreamSkill).map(({ scopes = [], skill }) => ({
    scopes,
    entry: { kind: "skill", name: skill.name, description: skill.frontMatter.description } as const,
  }));
  return async (context) => {
    const holds = scopeCheck(context);
    if (!holds(loader.scopes ?? [])) return [];
    const listed = holds(template.scopes ?? []) ? await template.list!(context) : [];
    return [
      ...listed.map(({ name, description = "" }) => ({ kind: "skill", name, description }) as const),
      ...ofUpstreams.filter(({ scopes }) => holds(scopes)).map(({ entry }) => entry),
    ];
  };
}
