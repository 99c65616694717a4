/**
 * The shapes of `skills-2025-10-02`, for clients from before August 2026: versions by their epoch, labels that may be
 * `null`, `has_more` beside the cursor.
 *
 * @module
 */
import type { Shape } from "./shape.ts";
import { writeError } from "./shape_ga.ts";

export const shapeOctober2025: Shape = {
  skill({ id, display_name, latest, created_at, updated_at }, source) {
    return `{"type":"skill","id":"${id}","created_at":"${created_at}","updated_at":"${updated_at}","display_title":${
      JSON.stringify(display_name)
    },"latest_version":${JSON.stringify(latest?.epoch ?? null)},"source":"${source}"}`;
  },
  version(skill, { id, epoch, name, description, directory, created }) {
    return `{"type":"skill_version","id":"${
      olderId(id)
    }","skill_id":"${skill}","version":"${epoch}","created_at":"${new Date(created).toISOString()}","name":${
      JSON.stringify(name)
    },"description":${JSON.stringify(description)},"directory":${
      JSON.stringify(directory === "" ? name : directory)
    }}`;
  },
  page: (items, next) =>
    `{"data":[${items.join(",")}],"has_more":${next !== null},"next_page":${JSON.stringify(next)}}`,
  deletedSkill: (id) => `{"type":"skill_deleted","id":"${id}"}`,
  deletedVersion: (_, { epoch }) => `{"type":"skill_version_deleted","id":"${epoch}"}`,
  error: writeError,
};

function olderId(id: string): string {
  return id.replace(/^skver_/, "skill_version_");
}
