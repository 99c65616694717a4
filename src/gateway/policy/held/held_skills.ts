/**
 * Keeps the files of held skills from being read by their URIs: clients know them from an earlier list, and an MCP server
 * reads all URIs below its own by templates.
 *
 * @module
 */
import { readSkillUri } from "../../../mcp/skills/skill_uri.ts";
import { isUpstreamSkill } from "../../upstream/upstream_definition.ts";
import type { OfferedDefinition } from "../offered.ts";

/**
 * Segments of a path that a server may read as others: dots, characters that URL parsers drop, the separator of Windows, and
 * what is percent-encoded twice.
 */
const MISREAD = /^\.{1,2}$|[\p{Cc}\\]|%[0-9a-f]{2}/iu;

/**
 * What is offered, without the files of skills that are held.
 * @param offered without the held skills themselves
 * @param definitions of the same MCP server, with those that are held
 */
export function withoutHeldFiles<Each extends OfferedDefinition>(
  offered: readonly Each[],
  definitions: readonly Each[],
): readonly Each[] {
  const given = new Set<OfferedDefinition>(offered);
  /** Whether a skill is held, by its directory. */
  const skills = new Map(
    definitions.flatMap((each: OfferedDefinition) =>
      isUpstreamSkill(each) ? [[each.skill.path.join("/"), !given.has(each)] as const] : []
    ),
  );
  if (![...skills.values()].includes(true)) return offered;

  /** Of nested skills the inner one decides. A path that the server may read as another one is refused. */
  function isHeld(uri: string): boolean {
    if (!uri.startsWith("skill://")) return false;
    const path = readSkillUri(uri.replace(/[?#].*$/s, ""));
    if (!path || path.some((each) => MISREAD.test(each))) return true;
    for (let length = path.length; length > 0; length--) {
      const held = skills.get(path.slice(0, length).join("/"));
      if (held !== undefined) return held;
    }
    return false;
  }

  return offered.flatMap((each): Each[] => {
    const definition: OfferedDefinition = each;
    if (definition.kind === "resource") return isHeld(definition.uri) ? [] : [each];
    if (definition.kind !== "resource_template") return [each];
    const guarded: OfferedDefinition = {
      ...definition,
      read: (variables, context, uri) => isHeld(uri) ? undefined : definition.read(variables, context, uri),
    };
    return [guarded as Each];
  });
}
