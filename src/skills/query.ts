/**
 * Listing skills in pages: local ones by name, then uploaded ones, newest first. A page costs what it shows, however
 * many skills there are.
 *
 * @module
 */
import { readCursor, writeCursor } from "../crypto/cursor.ts";
import { parseForm } from "../http/form.ts";
import type { Store } from "../store/store.ts";
import type { Directory } from "./directory.ts";
import { SkillError } from "./error.ts";
import { type Skill, skillKey } from "./records.ts";
import { writeLocalSkill, writePage, writeSkill } from "./shape_ga.ts";

const PREFIX = "page_";
const SOURCES = new Set(["custom", "local", "anthropic"]);

/**
 * One page, as JSON text. Query: `limit` (1 to 1000, default 20), `page` (a `next_page`), `source` (`custom`, `local`, or
 * `anthropic`, of which there are none here).
 * @throws {SkillError} for a bad parameter
 */
export async function listSkills(
  store: Store,
  directory: Directory,
  cursorKey: () => Promise<Uint8Array>,
  workspace: string,
  query: string,
): Promise<string> {
  const { limit, page, source } = readQuery(query);
  const purpose = `skills:${workspace}:${source ?? ""}`;
  const key = await cursorKey();
  const [kind, after] = page === undefined ? [] : readPage(key, purpose, page);
  const data: string[] = [];
  let last: string[] | undefined;

  // One more than the page holds is looked for, to know whether there is a next page.
  if (kind !== "custom" && (source === undefined || source === "local")) {
    for (const skill of await directory.skills()) {
      if (after !== undefined && skill.name <= after) continue;
      if (data.length === limit) return writePage(data, PREFIX + writeCursor(key, purpose, last!));
      data.push(writeLocalSkill(skill));
      last = ["local", skill.name];
    }
  }
  if (source === undefined || source === "custom") {
    const from = kind === "custom" ? skillKey(workspace, after!) : undefined;
    const options = { after: from, limit: limit - data.length + 1, reverse: true };
    for (const { value } of await store.list<Skill>(["skill", workspace], options)) {
      if (data.length === limit) return writePage(data, PREFIX + writeCursor(key, purpose, last!));
      data.push(writeSkill(value));
      last = ["custom", value.id];
    }
  }
  return writePage(data, null);
}

/** Where the page before ended. @throws {SkillError} for a cursor that was not made for this list */
function readPage(key: Uint8Array, purpose: string, page: string): string[] {
  const position = page.startsWith(PREFIX) ? readCursor(key, purpose, page.slice(PREFIX.length)) : undefined;
  if (position) return position;
  throw new SkillError(
    "invalid_request_error",
    "page must be the next_page of a list with the same filters",
  );
}

function readQuery(query: string): { limit: number; page: string | undefined; source: string | undefined } {
  if (query === "") return { limit: 20, page: undefined, source: undefined };
  const { values, repeated } = parseForm(query);
  const twice = ["limit", "page", "source"].find((name) => repeated.includes(name));
  if (twice) throw new SkillError("invalid_request_error", `${twice} must come once`);
  const limit = values.get("limit") ?? "20";
  if (!/^[1-9][0-9]{0,3}$/.test(limit) || Number(limit) > 1000) {
    throw new SkillError("invalid_request_error", "limit must be a whole number from 1 to 1000");
  }
  const source = values.get("source");
  if (source !== undefined && !SOURCES.has(source)) {
    throw new SkillError("invalid_request_error", `source must be one of ${[...SOURCES].join(", ")}`);
  }
  return { limit: Number(limit), page: values.get("page"), source };
}
