/**
 * The shapes of today's Skills API. Ids and times are our own and need no escaping.
 *
 * @module
 */
import type { Shape, ShownError } from "./shape.ts";

export const shapeGa: Shape = {
  skill({ id, name, display_name, latest, created_at, updated_at }, source) {
    return `{"type":"skill","id":"${id}","created_at":"${created_at}","updated_at":"${updated_at}","display_name":${
      quote(display_name ?? name)
    },"latest_version_id":"${latest!.id}","source":{"type":"${source}"}}`;
  },
  version(skill, { id, name, description, created }) {
    return `{"type":"skill_version","id":"${id}","skill_id":"${skill}","created_at":"${
      new Date(created).toISOString()
    }","name":${JSON.stringify(name)},"description":${JSON.stringify(description)}}`;
  },
  page: (items, next) => `{"data":[${items.join(",")}],"next_page":${JSON.stringify(next)}}`,
  deletedSkill: (id) => `{"type":"skill_deleted","id":"${id}"}`,
  deletedVersion: (_, { id }) => `{"type":"skill_version_deleted","id":"${id}"}`,
  error: writeError,
};

/** A JSON string; most names are slugs and need no escaping. */
function quote(text: string): string {
  return /^[\w-]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** `details` lists the broken rules for programs. */
export function writeError({ type, message, requestId, problems }: ShownError): string {
  const details = problems.length === 0 ? undefined : {
    error_code: problems[0]!.rule,
    problems: problems.map(({ file, line, rule, message, hint }) => ({
      code: rule,
      file,
      line: line ?? null,
      message,
      hint: hint ?? null,
    })),
  };
  return JSON.stringify({
    type: "error",
    error: { type, message, ...(details && { details }) },
    request_id: requestId,
  });
}
