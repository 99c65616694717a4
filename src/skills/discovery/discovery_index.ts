/**
 * The two indexes: Agent Skills Discovery v0.2.0 (https://github.com/cloudflare/agent-skills-discovery-rfc), with one
 * artifact and digest for each skill, and v0.1, with a list of files. Both are sorted by name, so that they change only when
 * a skill does.
 *
 * @module
 */
import { WorkSlice } from "../../http/work_slice.ts";
import type { FlatArchives } from "../archive/flat_archive.ts";
import { digestOf } from "../content_digest.ts";
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
/** Characters of all lists of files of v0.1: 1,000 skills may have a million files. */
const MAX_LISTED_CHARACTERS = 2 * 1024 * 1024;
/** Time before a request creates the index again. */
const INDEX_LIFETIME_MS = 1000;

export function createIndexes(
  skills: PublicSkills,
  archives: FlatArchives,
  now: () => number,
): DiscoveryIndexes {
  const listings = new WeakMap<readonly PublicFile[], Listing>();

  function describeOlder(skill: PublicSkill, files: readonly PublicFile[]): OlderSkill | undefined {
    const listing = listings.get(files) ?? listFiles(files);
    listings.set(files, listing);
    return listing.isAllowed ? { skill, listing } : undefined;
  }

  return {
    current: cacheLast(now, async () => ({
      $schema: SCHEMA,
      skills: await describeAll(skills, (skill, files) => describe(skill, files, archives)),
    })),
    older: cacheLast(now, async () => ({
      skills: leaveOutLongest(await describeAll(skills, describeOlder)).map((
        { skill: { name, description }, listing: { files } },
      ) => ({ name, description, files })),
    })),
  };
}

/** v0.2.0: SKILL.md if it is the only file, else a flat archive. URLs are relative to the index. */
async function describe(
  { name, description, isUploaded }: PublicSkill,
  files: readonly PublicFile[],
  archives: FlatArchives,
): Promise<Record<string, string> | undefined> {
  const [only] = files;
  if (files.length === 1 && only!.path === "SKILL.md") {
    return { name, type: "skill-md", description, url: `${name}/SKILL.md`, digest: only!.digest };
  }
  const digest = await archives.digestOf(files, isUploaded);
  return digest === undefined
    ? undefined
    : { name, type: "archive", description, url: `${name}.zip`, digest };
}

/** The files of a skill as v0.1 lists them. */
interface Listing {
  readonly files: readonly string[];
  readonly characters: number;
  /** v0.1 allows only ASCII in paths, and its clients refuse a whole index with another path. */
  readonly isAllowed: boolean;
}

interface OlderSkill {
  readonly skill: PublicSkill;
  readonly listing: Listing;
}

function listFiles(files: readonly PublicFile[]): Listing {
  const paths = files.map(({ path }) => path);
  return {
    files: ["SKILL.md", ...paths.filter((path) => path !== "SKILL.md")],
    characters: paths.reduce((sum, { length }) => sum + length, 0),
    isAllowed: paths.every((path) => /^[\x20-\x7e]+$/.test(path) && !/[\\?#[\]]|\.\./.test(path)),
  };
}

/** The skills whose lists are within the limit together: a skill with very many files does not displace others. */
function leaveOutLongest(skills: readonly OlderSkill[]): OlderSkill[] {
  let left = MAX_LISTED_CHARACTERS;
  const shortestFirst = skills.toSorted((a, b) => a.listing.characters - b.listing.characters);
  const kept = new Set(shortestFirst.filter(({ listing }) => (left -= listing.characters) >= 0));
  return skills.filter((skill) => kept.has(skill));
}

/**
 * Describes all skills in order, without those that cannot be described. Concurrent calls start at different skills and
 * reuse each other's results, but do not wait for each other: on workerd a request cannot wait for another one.
 */
async function describeAll<Described>(
  skills: PublicSkills,
  describe: (
    skill: PublicSkill,
    files: readonly PublicFile[],
  ) => Described | undefined | Promise<Described | undefined>,
): Promise<Described[]> {
  const all = await skills.list();
  const described = new Array<Described | undefined>(all.length);
  const start = Math.floor(Math.random() * all.length);
  let next = 0;
  await Promise.all(Array.from({ length: MAX_CONCURRENT_SKILLS }, async () => {
    const slice = new WorkSlice();
    while (next < all.length) {
      const at = (start + next++) % all.length;
      const files = await all[at]!.files();
      described[at] = files && await describe(all[at]!, files);
      if (slice.isOver) await slice.yield();
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
    const tag = `"${await digestOf(bytes)}"`;
    // Count from now: creating it may have taken longer than its lifetime.
    since = now();
    return latest = { bytes, tag };
  };
}
