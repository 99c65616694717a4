/**
 * The two indexes: Agent Skills Discovery v0.2.0 (https://github.com/cloudflare/agent-skills-discovery-rfc), with one
 * artifact and digest for each skill, and v0.1, with a list of files. Both are sorted by name, so that they change only when
 * a skill does.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { sha256 } from "../../crypto/sha256.ts";
import type { FlatArchives } from "../archive/flat_archive.ts";
import type { PublicFile, PublicSkill, PublicSkills } from "./public_skills.ts";

export interface IndexDocument {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** With its quotes. */
  readonly tag: string;
}

export interface DiscoveryIndexes {
  /** `/.well-known/agent-skills/index.json` */
  readonly current: () => Promise<IndexDocument>;
  /** `/.well-known/skills/index.json` */
  readonly older: () => Promise<IndexDocument>;
}

const SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
/** Skills that are described at the same time. */
const MAX_CONCURRENT_SKILLS = 8;
/** Time before a request creates the index again. */
const INDEX_LIFETIME_MS = 1000;

export function createIndexes(
  skills: PublicSkills,
  archives: FlatArchives,
  now: () => number,
): DiscoveryIndexes {
  return {
    current: cacheLast(now, async () => ({
      $schema: SCHEMA,
      skills: await describeAll(skills, (skill, files) => describe(skill, files, archives)),
    })),
    older: cacheLast(now, async () => ({ skills: await describeAll(skills, describeOlder) })),
  };
}

/** v0.2.0: SKILL.md if it is the only file, else a flat archive. URLs are relative to the index. */
async function describe(
  { name, description, isUploaded }: PublicSkill,
  files: readonly PublicFile[],
  archives: FlatArchives,
): Promise<unknown> {
  const [only] = files;
  if (files.length === 1 && only!.path === "SKILL.md") {
    return { name, type: "skill-md", description, url: `${name}/SKILL.md`, digest: only!.digest };
  }
  const digest = await archives.digestOf(files, isUploaded);
  return digest && { name, type: "archive", description, url: `${name}.zip`, digest };
}

/** v0.1 allows only ASCII in paths, and its clients refuse a whole index with another path. */
function describeOlder({ name, description }: PublicSkill, files: readonly PublicFile[]): unknown {
  const paths = files.map(({ path }) => path);
  if (!paths.every((path) => /^[\x20-\x7e]+$/.test(path) && !/[\\?#[\]]|\.\./.test(path))) return undefined;
  return { name, description, files: ["SKILL.md", ...paths.filter((path) => path !== "SKILL.md")] };
}

/**
 * Describes all skills in order, without those that cannot be described. Concurrent calls start at different skills and
 * reuse each other's results, but do not wait for each other: on workerd a request cannot wait for another one.
 */
async function describeAll(
  skills: PublicSkills,
  describe: (skill: PublicSkill, files: readonly PublicFile[]) => unknown,
): Promise<unknown[]> {
  const all = await skills.list();
  const described = new Array<unknown>(all.length);
  const start = Math.floor(Math.random() * all.length);
  let next = 0;
  await Promise.all(Array.from({ length: MAX_CONCURRENT_SKILLS }, async () => {
    while (next < all.length) {
      const at = (start + next++) % all.length;
      const files = await all[at]!.files();
      described[at] = files && await describe(all[at]!, files);
    }
  }));
  return described.filter((each) => each !== undefined);
}

/** Returns the last document while it is fresh, and while another request creates the next one. */
function cacheLast(now: () => number, make: () => Promise<unknown>): () => Promise<IndexDocument> {
  let since = -Infinity;
  let latest: IndexDocument | undefined;
  return async () => {
    const isFresh = now() - since < INDEX_LIFETIME_MS && now() >= since;
    if (latest && isFresh) return latest;
    since = now();
    const bytes = new TextEncoder().encode(JSON.stringify(await make()));
    // Count from now: creating it may have taken longer than its lifetime.
    since = now();
    return latest = { bytes, tag: `"${encodeBase64url(sha256(bytes))}"` };
  };
}
