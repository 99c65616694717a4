/**
 * Records as today's Skills API writes them. Other dialects get a file each beside this one.
 *
 * @module
 */
import type { LocalSkill } from "./directory.ts";
import type { Skill } from "./records.ts";

/** An uploaded skill. */
export function shapeSkill({ id, created_at, updated_at, display_name, latest_version }: Skill): unknown {
  return {
    type: "skill",
    id,
    created_at,
    updated_at,
    display_name,
    latest_version_id: latest_version,
    source: { type: "custom" },
  };
}

/** A skill of a local folder: the same members, with a source of its own. */
export function shapeLocalSkill({ id, name, version, modified }: LocalSkill): unknown {
  const time = new Date(modified).toISOString();
  return {
    type: "skill",
    id,
    created_at: time,
    updated_at: time,
    display_name: name,
    latest_version_id: version,
    source: { type: "local" },
  };
}

export function shapeDeleted(id: string): unknown {
  return { type: "skill_deleted", id };
}
