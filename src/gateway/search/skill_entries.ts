/**
 * The skills of a server as entries of a search. They are found through the resource template that lists them for a caller
 * (`mcp/skills/skills.ts`), and read with the tool `load_skill`.
 *
 * @module
 */
import type { CallContext } from "../../mcp/context.ts";
import type { Definition, ResourceTemplateDefinition } from "../../mcp/definition/definition.ts";
import { scopeCheck } from "./callable_tools.ts";

const SKILL_TEMPLATE = "skill://{name}/{+path}";
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
    each?.kind === "resource_template" && each.uriTemplate === SKILL_TEMPLATE
  );
  const loader = definitions.find((each) => each?.kind === "tool" && each.name === LOAD_SKILL);
  if (!template?.list || !loader) return undefined;
  const scopes = [...template.scopes ?? [], ...loader.scopes ?? []];
  return async (context) => {
    if (!scopeCheck(context)(scopes)) return [];
    const listed = await template.list!(context);
    return listed.map(({ name, description = "" }) => ({ kind: "skill", name, description }));
  };
}
