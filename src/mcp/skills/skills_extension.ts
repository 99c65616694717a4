/**
 * The Skills extension, `io.modelcontextprotocol/skills` (SEP-2640, https://github.com/modelcontextprotocol/ext-skills), of
 * revision 2026-07-28, and also served in sessions of 2025-11-25. `skills/list` and `skills/get` return skills with their
 * front matter and the digests of their files; `resources/directory/read` lists a directory. Clients read the files with
 * `resources/read`, which `skills.ts` serves.
 *
 * @module
 */
import { writeCursor } from "../../crypto/cursor.ts";
import type { Method } from "../../jsonrpc/dispatch.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import type { Call } from "../call.ts";
import type { ListedResource } from "../definition/definition.ts";
import type { Extension, ExtensionServer } from "../definition/extension.ts";
import { readListCursor } from "../definition/list_cursor.ts";
import { MODERN } from "../era.ts";
import { requireObject, requireString } from "../schema/params.ts";
import { readSkillUri, writeSkillUri } from "./skill_uri.ts";
import {
  SKILL_MD,
  skillDefinitions,
  type SkillEntry,
  type SkillFile,
  type SkillSource,
  toResource,
} from "./skills.ts";

/** Skills and files of a page. A skill has up to 512 files and is never split, so a page may end before either. */
const MAX_PAGE_SKILLS = 100;
const MAX_PAGE_FILES = 5000;
/** Skills whose lists of files are read together: a page that ends at its files reads few in vain. */
const SKILLS_AT_ONCE = 8;

/** The extension, with the tools, resources and prompt that give other clients the same skills. */
export function skillsExtension(source: SkillSource): Extension {
  return {
    id: "io.modelcontextprotocol/skills",
    since: "2025-11-25",
    settings: { directoryRead: true },
    definitions: (own) => skillDefinitions(source, own),
    methods: (server) => skillsMethods(source, server),
  };
}

function skillsMethods(
  source: SkillSource,
  { auth, pageSize, secret, listLifetime: ttl }: ExtensionServer,
): [string, Method<Call>][] {
  /** Cache hints, which only 2026-07-28 has. */
  const cacheHints = (isPublic: boolean, { revision }: Call) =>
    revision >= MODERN ? { ttlMs: ttl, cacheScope: isPublic ? "public" : "private" } : {};
  const skillCacheHints = ({ isPublic }: SkillEntry, call: Call) =>
    cacheHints(isPublic && auth !== "required", call);

  const list: Method<Call> = async (params, call) => {
    const { principal } = call;
    const purpose = `mcp:skills:${principal?.workspace ?? ""}`;
    const after = await readListCursor(requireObject(params).cursor, purpose, secret);
    const page = await source.page(principal, { after, limit: Math.min(pageSize, MAX_PAGE_SKILLS) });
    const skills: unknown[] = [];
    let { next } = page;
    let last: SkillEntry | undefined;
    let files = 0;
    for await (const { entry, skill } of describeAll(page.entries)) {
      files += skill && typeof skill.resources !== "string" ? skill.resources.length : 1;
      if (last && files > MAX_PAGE_FILES) {
        next = last.path;
        break;
      }
      if (skill) skills.push(skill);
      last = entry;
    }
    const nextCursor = next && writeCursor(await secret(), purpose, next);
    // With authorization, a caller with a token may see more skills.
    const isPublic = auth === "off" && !principal;
    return { skills, ...(nextCursor !== undefined && { nextCursor }), ...cacheHints(isPublic, call) };
  };

  const get: Method<Call> = async (params, call) => {
    const uri = requireString(requireObject(params), "uri");
    const found = await find(uri, call.principal);
    const isSkill = found && found.rest.length === 1 && found.rest[0] === SKILL_MD;
    const skill = isSkill ? await describe(found.entry) : undefined;
    if (!skill) throw notFound("Skill not found", uri);
    return { skill, ...skillCacheHints(found!.entry, call) };
  };

  const readDirectory: Method<Call> = async (params, call) => {
    const object = requireObject(params);
    const uri = requireString(object, "uri");
    const found = await find(uri, call.principal);
    const files = await found?.entry.files();
    if (!found || !files) throw notFound("Directory not found", uri);
    const children = findChildren(found.entry, files, found.rest);
    if (children.size === 0) throw notFound("Directory not found", uri);
    const purpose = `mcp:directory:${uri}`;
    const [after] = await readListCursor(object.cursor, purpose, secret) ?? [];
    const names = [...children.keys()].sort();
    const rest = after === undefined ? names : names.filter((name) => name > after);
    const resources = rest.slice(0, pageSize).map((name) => children.get(name));
    const nextCursor = rest.length > pageSize
      ? writeCursor(await secret(), purpose, [rest[pageSize - 1]!])
      : undefined;
    // The specification has no cache hints here (2026-08), but the official client requires them.
    return {
      resources,
      ...(nextCursor !== undefined && { nextCursor }),
      ...skillCacheHints(found.entry, call),
    };
  };

  async function find(uri: string, principal: Call["principal"]): ReturnType<SkillSource["find"]> {
    const path = readSkillUri(uri);
    return path && await source.find(principal, path);
  }

  return [
    ["skills/list", list],
    ["skills/get", get],
    ["resources/directory/read", readDirectory],
  ];
}

interface Skill {
  readonly uri: string;
  readonly frontmatter: unknown;
  readonly resources: "dynamic" | readonly { uri: string; digest: string; size: number }[];
}

/** Each entry with its `Skill`, in order. */
async function* describeAll(
  entries: readonly SkillEntry[],
): AsyncGenerator<{ readonly entry: SkillEntry; readonly skill: Skill | undefined }> {
  for (let at = 0; at < entries.length; at += SKILLS_AT_ONCE) {
    const some = entries.slice(at, at + SKILLS_AT_ONCE);
    yield* await Promise.all(some.map(async (entry) => ({ entry, skill: await describe(entry) })));
  }
}

/** The `Skill` for clients; `undefined` if it was deleted meanwhile. */
async function describe({ path, frontMatter, files }: SkillEntry): Promise<Skill | undefined> {
  const listed = await files();
  if (!listed?.some((file) => file.path === SKILL_MD)) return undefined;
  const resources = listed.flatMap(({ path: file, digest, size }) =>
    digest === undefined || size === undefined
      ? []
      : { uri: writeSkillUri([...path, ...file.split("/")]), digest, size }
  );
  return {
    uri: writeSkillUri([...path, SKILL_MD]),
    frontmatter: frontMatter,
    resources: resources.length === listed.length ? resources : "dynamic",
  };
}

/** The direct children of a directory of a skill, by name; empty for an unknown directory. */
function findChildren(
  entry: SkillEntry,
  files: readonly SkillFile[],
  directory: readonly string[],
): Map<string, ListedResource> {
  const children = new Map<string, ListedResource>();
  const prefix = directory.map((segment) => segment + "/").join("");
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue;
    const [name = "", ...below] = file.path.slice(prefix.length).split("/");
    children.set(
      name,
      below.length === 0 ? toResource(entry, file) : {
        uri: writeSkillUri([...entry.path, ...directory, name]),
        name,
        mimeType: "inode/directory",
      },
    );
  }
  return children;
}

function notFound(problem: string, uri: string): RpcError {
  const shown = uri.slice(0, 500).toWellFormed();
  return new RpcError(INVALID_PARAMS, `${problem}: ${shown}`, { uri: shown });
}
