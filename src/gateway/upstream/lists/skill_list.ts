/**
 * Reads the entries of an upstream's `skills/list` (SEP-2640, https://github.com/modelcontextprotocol/ext-skills). A skill
 * passes as it is or not at all: hosts compare its front matter and its digests with the files.
 *
 * @module
 */
import { isObject } from "../../../json_schema/value.ts";
import { readSkillUri } from "../../../mcp/skills/skill_uri.ts";
import { SKILL_MD } from "../../../mcp/skills/skills.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";

/** A skill of an upstream. */
export interface ListedSkill {
  /** The URI of its SKILL.md, as the upstream has it. */
  readonly uri: string;
  /** The decoded path segments of its directory; the last one is its name. */
  readonly path: readonly string[];
  readonly frontMatter: JsonObject & { readonly name: string; readonly description: string };
  /** All files, with their URIs as the upstream has them; `undefined` where it does not list them (`dynamic`). */
  readonly files: readonly ListedSkillFile[] | undefined;
}

export interface ListedSkillFile {
  readonly uri: string;
  /** Relative to the skill, decoded. */
  readonly path: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

const MAX_URI_CHARACTERS = 4000;
const MAX_FRONT_MATTER_CHARACTERS = 65_536;
const MAX_DESCRIPTION_CHARACTERS = 16_384;
/** Limits of the specification. */
const MAX_FILES = 512;
const MAX_SKILL_BYTES = 16 * 1024 * 1024;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** @throws {Error} saying why the skill is not offered */
export function readSkill({ uri, frontmatter, resources }: JsonObject): ListedSkill {
  const segments = readPath(uri);
  const path = segments.slice(0, -1);
  if (path.length === 0 || segments.at(-1) !== SKILL_MD) {
    throw new Error(`uri must be skill://, the path of the skill, and /${SKILL_MD}`);
  }
  if (!isObject(frontmatter) || JSON.stringify(frontmatter).length > MAX_FRONT_MATTER_CHARACTERS) {
    throw new Error(`frontmatter must be an object of at most ${MAX_FRONT_MATTER_CHARACTERS} characters`);
  }
  const { name, description } = frontmatter;
  if (name !== path.at(-1)) throw new Error("frontmatter.name must be the last segment of its path");
  if (typeof description !== "string" || description.length > MAX_DESCRIPTION_CHARACTERS) {
    throw new Error(`frontmatter.description must have at most ${MAX_DESCRIPTION_CHARACTERS} characters`);
  }
  return {
    uri: uri as string,
    path,
    frontMatter: frontmatter as ListedSkill["frontMatter"],
    files: resources === "dynamic" ? undefined : readFiles(resources, path),
  };
}

function readFiles(resources: unknown, place: readonly string[]): ListedSkillFile[] {
  if (!Array.isArray(resources) || resources.length > MAX_FILES) {
    throw new Error(`resources must be "dynamic", or a list of at most ${MAX_FILES}`);
  }
  const paths = new Set<string>();
  let bytes = 0;
  const files = resources.map((each): ListedSkillFile => {
    const { uri, digest, size } = (isObject(each) ? each : {}) as JsonObject;
    const segments = readPath(uri);
    const path = segments.slice(place.length).join("/");
    if (path === "" || place.some((segment, i) => segment !== segments[i]) || paths.has(path)) {
      throw new Error("every resource must have a URI of its own within the skill");
    }
    if (typeof digest !== "string" || !DIGEST.test(digest)) {
      throw new Error("every resource must have a SHA-256 digest");
    }
    if (!Number.isSafeInteger(size) || (size as number) < 0) {
      throw new Error("every resource must have its size");
    }
    paths.add(path);
    bytes += size as number;
    return { uri: uri as string, path, digest, size: size as number };
  });
  if (!paths.has(SKILL_MD)) throw new Error(`resources must have ${SKILL_MD}`);
  if (bytes > MAX_SKILL_BYTES) throw new Error(`has more than ${MAX_SKILL_BYTES} bytes`);
  return files;
}

/** The segments of a URI without empty ones, `.` and `..`. @throws {Error} */
function readPath(uri: unknown): readonly string[] {
  const segments = typeof uri === "string" && uri.length <= MAX_URI_CHARACTERS
    ? readSkillUri(uri)
    : undefined;
  if (!segments || segments.some((each) => each === "." || each === ".." || /\p{Cc}/u.test(each))) {
    throw new Error(`uri must be skill:// and a path of at most ${MAX_URI_CHARACTERS} characters`);
  }
  return segments;
}
