/**
 * Lists in pages. Skills: local ones by name, then uploaded ones, newest first (or everything in reverse). Versions: by
 * creation time. The cost of a page does not grow with the number of skills.
 *
 * @module
 */
import { readCursor, writeCursor } from "../../crypto/cursor.ts";
import type { FindSecrets, ServerSecrets } from "../../crypto/server_secrets.ts";
import { parseForm } from "../../http/body/form.ts";
import type { Store } from "../../store/store.ts";
import type { Dialect } from "./dialect.ts";
import type { Directory } from "../local/directory.ts";
import { SkillError } from "../error.ts";
import { readSkills } from "../publishing/read_skills.ts";
import { skillKey } from "../records.ts";
import { showLocal, type ShownSkill, type Source } from "./shape.ts";
import { listVersions } from "../publishing/versions.ts";

const PREFIX = "page_";
const SOURCES = new Set(["custom", "local", "anthropic", "anthropic_example", "plugin"]);
/** Records of one read beyond the first, and reads, where skills without a version are skipped. */
const SKIPPING_PAGE_SIZE = 100;
const MAX_READS = 4;
const LOCAL_ID = /^skill_local_/;

export interface ListRequest {
  readonly dialect: Dialect;
  readonly workspace: string;
  /** The query of the URL. */
  readonly query: string;
  /** The secrets that sign cursors. */
  readonly cursorKey: FindSecrets;
}

/** The parsed query of a list. */
interface ListQuery {
  readonly limit: number;
  /** The position where the previous page ended. */
  readonly after: readonly string[] | undefined;
  readonly source: string | undefined;
  readonly reverse: boolean;
  /** The cursor of a page that ends here. */
  readonly cursor: (position: readonly string[]) => string;
}

/**
 * One page of skills, as JSON text. Query: `limit` (default 20), `page` (a `next_page`), `source`; in the OpenAI dialect
 * `limit`, `after` (an id), `order` (`desc` by default).
 * @throws {SkillError} for a bad parameter
 */
export async function listSkills(store: Store, directory: Directory, request: ListRequest): Promise<string> {
  const { dialect, workspace } = request;
  const asked = await readQuery(request, "skills");
  const { limit, source } = asked;
  const items: string[] = [];
  const ids: string[] = [];
  let last: readonly [Source, string] | undefined;
  // One more item than the page holds shows whether there is a next page. A page that skips many skills ends early.
  let isFull = false;
  const [kind, after] = asked.after ?? [];

  function show(skill: ShownSkill, source: Source): void {
    isFull = items.length === limit;
    if (isFull) return;
    items.push(dialect.shape.skill(skill, source));
    ids.push(skill.id);
    last = [source, source === "local" ? skill.name : skill.id];
  }

  async function addLocal(): Promise<void> {
    const all = await directory.skills();
    // In the OpenAI dialect the position is an id, else a name.
    const found = kind === "local" ? all.find(({ id }) => id === after)?.name : undefined;
    if (kind === "local" && found === undefined && dialect.pagesById) {
      throw refusal("after must be the id of a skill that is there");
    }
    const end = kind === "local" ? found ?? after! : undefined;
    for (const local of asked.reverse ? all.toReversed() : all) {
      if (isFull) return;
      const isBefore = end !== undefined && (asked.reverse ? local.name >= end : local.name <= end);
      if (!isBefore) show(showLocal(local).skill, "local");
    }
  }

  async function addUploaded(): Promise<void> {
    let from = kind === "custom" ? skillKey(workspace, after!) : undefined;
    for (let reads = 1; !isFull; reads++) {
      const wanted = reads === 1 ? limit + 1 - items.length : SKIPPING_PAGE_SIZE;
      const options = { after: from, limit: wanted, oldestFirst: asked.reverse };
      const entries = await readSkills(store, workspace, options);
      for (const { value } of entries) {
        // Only the older dialect shows skills without a version.
        if (value.latest || dialect.name === "skills-2025-10-02") show(value, "custom");
      }
      if (entries.length < wanted) return;
      from = entries.at(-1)!.key;
      // The position in the OpenAI dialect is that of the last item, so its page cannot be empty.
      if (isFull || reads < MAX_READS || dialect.pagesById && items.length === 0) continue;
      isFull = true;
      if (!dialect.pagesById) last = ["custom", from.at(-1) as string];
    }
  }

  const hasLocal = source === undefined || source === "local";
  const hasUploaded = source === undefined || source === "custom";
  if (!asked.reverse && hasLocal && kind !== "custom") await addLocal();
  if (hasUploaded && (asked.reverse ? kind !== "local" : true)) await addUploaded();
  if (asked.reverse && hasLocal) await addLocal();

  return dialect.shape.page(items, isFull ? asked.cursor(last!) : null, ids);
}

/**
 * One page of a skill's versions, as JSON text; parameters as for {@linkcode listSkills}, but for `source`.
 * @throws {SkillError} for a bad parameter
 */
export async function listSkillVersions(store: Store, skill: string, request: ListRequest): Promise<string> {
  const { dialect, workspace } = request;
  const { limit, after, reverse, cursor } = await readQuery(request, `versions:${skill}`);
  const versions = await listVersions(store, workspace, skill, {
    after: after?.[1],
    limit: limit + 1,
    newestFirst: dialect.newestFirst !== reverse,
  });
  const page = versions.slice(0, limit);
  return dialect.shape.page(
    page.map((version) => dialect.shape.version(skill, version)),
    versions.length > limit ? cursor(["version", page.at(-1)!.id]) : null,
    page.map(({ id }) => id),
  );
}

async function readQuery(
  { dialect, workspace, query, cursorKey }: ListRequest,
  list: string,
): Promise<ListQuery> {
  const { values, repeated } = parseForm(query);
  const names = dialect.pagesById ? ["limit", "after", "order"] : ["limit", "page", "source"];
  const twice = names.find((name) => repeated.includes(name));
  if (twice) throw refusal(`${twice} must not be repeated`);
  const limit = Number(checkLimit(values.get("limit") ?? "20", dialect.maxPageItems));
  if (dialect.pagesById) {
    const order = values.get("order") ?? "desc";
    if (order !== "asc" && order !== "desc") throw refusal("order must be asc or desc");
    const after = values.get("after");
    if (after === "") throw refusal("after must be the id of the last item on the previous page");
    return {
      limit,
      after: after === undefined ? undefined : [LOCAL_ID.test(after) ? "local" : "custom", after],
      source: undefined,
      reverse: order === "asc",
      cursor: ([, id]) => id!,
    };
  }
  const source = values.get("source");
  if (source !== undefined && !SOURCES.has(source)) {
    throw refusal(`source must be one of ${[...SOURCES].join(", ")}`);
  }
  const key = await cursorKey();
  const purpose = `${dialect.name}:${list}:${workspace}:${source ?? ""}`;
  const page = values.get("page");
  return {
    limit,
    after: page === undefined ? undefined : readPage(key, purpose, page),
    source,
    reverse: false,
    cursor: (position) => writePage(key, purpose, position),
  };
}

function checkLimit(limit: string, most: number): string {
  if (!/^[1-9][0-9]{0,3}$/.test(limit) || Number(limit) > most) {
    throw refusal(`limit must be an integer from 1 to ${most}`);
  }
  return limit;
}

/** The last cursor: signing one costs as much as the page, and callers often request the same page again. */
let latest: { readonly key?: ServerSecrets; readonly place: string; readonly page: string } = {
  place: "",
  page: "",
};

function writePage(key: ServerSecrets, purpose: string, position: readonly string[]): string {
  const place = JSON.stringify([purpose, position]);
  if (latest.key !== key || latest.place !== place) {
    latest = { key, place, page: PREFIX + writeCursor(key, purpose, position) };
  }
  return latest.page;
}

/** Where the page before ended. @throws {SkillError} for a cursor that was not made for this list */
function readPage(key: ServerSecrets, purpose: string, page: string): string[] {
  const position = page.startsWith(PREFIX) ? readCursor(key, purpose, page.slice(PREFIX.length)) : undefined;
  if (position) return position;
  throw refusal("page must be the next_page of a response with the same filters");
}

function refusal(message: string): SkillError {
  return new SkillError("invalid_request_error", message);
}
