/**
 * The result of `list_skills`: names and descriptions.
 *
 * @module
 */

export interface SkillSummary {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source: string;
}

/** What a caller may see, and what of it is left out. */
export interface SkillList {
  readonly skills: readonly SkillSummary[];
  readonly omitted: {
    /** Skills whose name another one has that goes before them. */
    readonly shadowed: number;
    /** Whether there are older ones that were not looked at. */
    readonly older: boolean;
  };
}

/** Characters of the entries with descriptions in `list_skills`: about 10,000 tokens. */
const MAX_LIST_CHARACTERS = 40_000;

/** Names and descriptions. The list says when it leaves something out. */
export function writeSkillList({ skills, omitted: { shadowed, older } }: SkillList): string {
  if (skills.length === 0) return "No skills are available.";
  const lines: string[] = [];
  let left = MAX_LIST_CHARACTERS;
  for (const { name, description } of skills) {
    const line = `- ${name}: ${oneLine(description)}`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const rest = skills.slice(lines.length).map(({ name }) => name);
  if (rest.length > 0) {
    lines.push(
      `${rest.length} more skills, without descriptions because the list is too long: ${rest.join(", ")}`,
    );
  }
  if (shadowed > 0) {
    lines.push(
      `Not listed: ${shadowed} skills with the same name as another skill. Load them with load_skill and their id.`,
    );
  }
  if (older) lines.push("Not listed: older skills. Load them with load_skill and their name or id.");
  return lines.join("\n");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
