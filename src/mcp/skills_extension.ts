/**
 * The Skills extension, `io.modelcontextprotocol/skills` (SEP-2640, revision 2026-07-28:
 * https://github.com/modelcontextprotocol/ext-skills): `skills/list` and `skills/get` tell of each skill its front
 * matter and its files with digests, `resources/directory/read` what lies in a folder. Files themselves are read by
 * `resources/read`, which `skills.ts` serves.
 *
 * @module
 */
import { readCursor, writeCursor } from "../crypto/cursor.ts";
import type { Method } from "../jsonrpc/dispatch.ts";
import { INVALID_PARAMS, RpcError } from "../jsonrpc/error.ts";
import type { Call } from "./call.ts";
import type { ListedResource } from "./definition.ts";
import { requireObject, requireString } from "./params.ts";
import { readSkillUri, writeSkillUri } from "./skill_uri.ts";
import { SKILL_MD, type SkillEntry, type SkillFile, type SkillSource, toResource } from "./skills.ts";

export interface SkillsExtensionOptions {
  readonly source: SkillSource;
  readonly auth: "required" | "optional" | "off";
  /** Entries of a list. */
  readonly pageSize: number;
  /** The key under which cursors are sealed. */
  readonly secret: () => Promise<Uint8Array>;
  /** Milliseconds for which a client may keep what it was told. */
  readonly ttl: number;
}

/** A skill is never split over pages, and each has up to 512 files: pages end early. */
const MOST_SKILLS = 100;
const MOST_FILES = 5000;

/** The methods of the extension. */
export function skillsExtensionMethods(options: SkillsExtensionOptions): [string, Method<Call>][] {
  const { source, auth, pageSize, secret, ttl } = options;

  const list: Method<Call> = async (params, { principal }) => {
    const purpose = `mcp:skills:${principal?.workspace ?? ""}`;
    const after = await openCursor(requireObject(params).cursor, purpose);
    const page = await source.page(principal, { after, limit: Math.min(pageSize, MOST_SKILLS) });
    const described = await Promise.all(page.entries.map(describe));
    const skills: unknown[] = [];
    let { next } = page;
    let files = 0;
    for (const [i, skill] of described.entries()) {
      files += skill && typeof skill.resources !== "string" ? skill.resources.length : 1;
      if (i > 0 && files > MOST_FILES) {
        next = page.entries[i - 1]!.path;
        break;
      }
      if (skill) skills.push(skill);
    }
    const nextCursor = next && writeCursor(await secret(), purpose, next);
    // Somebody who signs in may see more than this.
    const cacheScope = auth === "off" && !principal ? "public" : "private";
    return { skills, ...(nextCursor !== undefined && { nextCursor }), ttlMs: ttl, cacheScope };
  };

  const get: Method<Call> = async (params, { principal }) => {
    const uri = requireString(requireObject(params), "uri");
    const found = await find(uri, principal);
    const isSkill = found && found.rest.length === 1 && found.rest[0] === SKILL_MD;
    const skill = isSkill ? await describe(found.entry) : undefined;
    if (!skill) throw refusal("No skill is served at", uri);
    return {
      skill,
      ttlMs: ttl,
      cacheScope: found!.entry.isPublic && auth !== "required" ? "public" : "private",
    };
  };

  const readDirectory: Method<Call> = async (params, { principal }) => {
    const object = requireObject(params);
    const uri = requireString(object, "uri");
    const found = await find(uri, principal);
    const files = await found?.entry.files();
    if (!found || !files) throw refusal("No directory is served at", uri);
    const children = childrenOf(found.entry, files, found.rest);
    if (children.size === 0) throw refusal("No directory is served at", uri);
    const purpose = `mcp:directory:${uri}`;
    const [after] = await openCursor(object.cursor, purpose) ?? [];
    const names = [...children.keys()].sort();
    const rest = after === undefined ? names : names.filter((name) => name > after);
    const resources = rest.slice(0, pageSize).map((name) => children.get(name));
    const nextCursor = rest.length > pageSize
      ? writeCursor(await secret(), purpose, [rest[pageSize - 1]!])
      : undefined;
    return { resources, ...(nextCursor !== undefined && { nextCursor }) };
  };

  /** @throws {RpcError} -32602 for a cursor that was not issued here for this list */
  async function openCursor(cursor: unknown, purpose: string): Promise<string[] | undefined> {
    if (cursor === undefined) return undefined;
    const position = typeof cursor === "string" ? readCursor(await secret(), purpose, cursor) : undefined;
    if (position) return position;
    throw new RpcError(INVALID_PARAMS, "Invalid params: this cursor was not issued here");
  }

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

/** As clients know a skill; `undefined` when it is gone. */
async function describe({ path, frontMatter, files }: SkillEntry): Promise<Skill | undefined> {
  const listed = await files();
  if (!listed?.some((file) => file.path === SKILL_MD)) return undefined;
  const resources = listed.flatMap(({ path: file, digest, size }) =>
    digest === undefined ? [] : { uri: writeSkillUri([...path, ...file.split("/")]), digest, size }
  );
  return {
    uri: writeSkillUri([...path, SKILL_MD]),
    frontmatter: frontMatter,
    resources: resources.length === listed.length ? resources : "dynamic",
  };
}

/** What lies directly in a folder of a skill, by name; nothing when there is no such folder. */
function childrenOf(
  entry: SkillEntry,
  files: readonly SkillFile[],
  folder: readonly string[],
): Map<string, ListedResource> {
  const children = new Map<string, ListedResource>();
  const prefix = folder.map((segment) => segment + "/").join("");
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue;
    const [name = "", ...below] = file.path.slice(prefix.length).split("/");
    children.set(
      name,
      below.length === 0 ? toResource(entry, file) : {
        uri: writeSkillUri([...entry.path, ...folder, name]),
        name,
        mimeType: "inode/directory",
      },
    );
  }
  return children;
}

function refusal(problem: string, uri: string): RpcError {
  const shown = uri.slice(0, 500);
  return new RpcError(INVALID_PARAMS, `${problem} ${shown}`, { uri: shown });
}
