/**
 * The shapes of OpenAI's Skills API: versions are numbers, times are seconds, and a skill has a default version.
 *
 * @module
 */
import type { Shape } from "./shape.ts";

export const shapeOpenai: Shape = {
  skill(skill) {
    return JSON.stringify({
      id: skill.id,
      object: "skill",
      name: skill.name,
      description: skill.description,
      created_at: Math.floor(Date.parse(skill.created_at) / 1000),
      default_version: String(skill.default!.number),
      latest_version: String(skill.latest!.number),
    });
  },
  version(skill, { id, number, name, description, created }) {
    return JSON.stringify({
      id,
      object: "skill.version",
      skill_id: skill,
      version: String(number),
      name,
      description,
      created_at: Math.floor(created / 1000),
    });
  },
  page: (items, next, ids) =>
    `{"object":"list","data":[${items.join(",")}],"first_id":${JSON.stringify(ids[0] ?? null)},"last_id":${
      JSON.stringify(ids.at(-1) ?? null)
    },"has_more":${next !== null}}`,
  deletedSkill: (id) => JSON.stringify({ id, object: "skill.deleted", deleted: true }),
  deletedVersion: (_, { id, number }) =>
    JSON.stringify({ id, object: "skill.version.deleted", deleted: true, version: String(number) }),
  error({ type, message, problems }) {
    return JSON.stringify({
      error: {
        message,
        type,
        param: problems.length > 0 ? "files" : null,
        code: problems[0]?.rule ?? null,
      },
    });
  },
};
