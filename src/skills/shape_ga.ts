/**
 * Records as today's Skills API writes them. Other dialects get a file each beside this one.
 *
 * @module
 */
import type { LocalSkill } from "./directory.ts";
import type { Skill } from "./records.ts";

/** An uploaded skill, as JSON text: written by hand, because a page of them is little else. */
export function writeSkill({ id, created_at, updated_at, display_name, latest_version }: Skill): string {
  // Ids and times are ours and need no escaping.
  return `{"type":"skill","id":"${id}","created_at":"${created_at}","updated_at":"${updated_at}","display_name":${
    JSON.stringify(display_name)
  },"latest_version_id":"${latest_version}","source":{"type":"custom"}}`;
}

/** A skill of a local folder: the same members, with a source of its own. */
export function writeLocalSkill({ id, name, version, modified }: LocalSkill): string {
  const time = new Date(modified).toISOString();
  return JSON.stringify({
    type: "skill",
    id,
    created_at: time,
    updated_at: time,
    display_name: name,
    latest_version_id: version,
    source: { type: "local" },
  });
}

export function writePage(skills: readonly string[], nextPage: string | null): string {
  return `{"data":[${skills.join(",")}],"next_page":${JSON.stringify(nextPage)}}`;
}

export function writeDeleted(id: string): string {
  return JSON.stringify({ type: "skill_deleted", id });
}
