/**
 * Deletes a skill or a version: a commit removes the records and the references to files. A skill with many versions takes
 * several commits, each of limited size.
 *
 * @module
 */
import { WorkSlice } from "../../http/work_slice.ts";
import type { Commit, Entry, Key, Store } from "../../store/store.ts";
import type { Ledger } from "../blobs/blob_ledger.ts";
import { contentOf, type Reference } from "../blobs/blob_references.ts";
import { busy, describe, namesOf, withoutFrontMatter } from "./publish.ts";
import {
  type Skill,
  skillKey,
  skillNameKey,
  skillTitleKey,
  type SkillVersion,
  titleClaimKey,
  versionKey,
  versionNumberKey,
  versionSummaryKey,
} from "../records.ts";
import { findVersion, listVersions } from "./versions.ts";

/** Why a skill or version cannot be deleted. */
export type Refusal = "has_versions" | "last_version" | "default_version";

type Removal = { readonly references: readonly Reference[]; readonly commit: Commit };

/** Thrown to end a removal before its commit. */
class RemovalRefused {
  readonly why: "gone" | Refusal;

  constructor(why: RemovalRefused["why"]) {
    this.why = why;
  }
}

/** Limits of one commit: versions, and references to files; a version with more references has a commit of its own. */
const MAX_VERSIONS_PER_COMMIT = 50;
const MAX_REFERENCES_PER_COMMIT = 500;

/**
 * Deletes a skill with all of its versions; with `onlyEmpty`, one that has none. The oldest versions go first, and the last
 * commit removes the skill: after an interruption it has its newer versions, and can be deleted again.
 * @returns `gone` when there is no such skill (or another call removed it first)
 * @throws {SkillError} 529 when every try lost against another writer
 */
export async function removeSkill(
  store: Store,
  ledger: Ledger,
  workspace: string,
  id: string,
  { onlyEmpty = false }: { readonly onlyEmpty?: boolean } = {},
): Promise<"done" | "gone" | Refusal> {
  for (;;) {
    let isLast = true;
    const outcome = await remove(ledger, async () => {
      const entry = await open(store, workspace, id);
      if (onlyEmpty && entry.value.versions > 0) throw new RemovalRefused("has_versions");
      const oldest = await readOldest(store, workspace, id);
      const { versions } = oldest;
      // Without a version that can be read, another call removes them, and the check of the commit fails.
      isLast = versions.length === 0 || versions.length >= entry.value.versions;
      return isLast
        ? await removalOf(store, workspace, entry, oldest)
        : partialRemovalOf(workspace, entry, oldest);
    });
    if (outcome !== "done" || isLast) return outcome;
  }
}

/**
 * Deletes a version by any of its names. The newest remaining version becomes `latest`.
 * @param keep which version must stay: the last one (today's API); the default one, but deleting the last one deletes the
 * skill (OpenAI); or none (`skills-2025-10-02`)
 */
export async function removeVersion(
  store: Store,
  ledger: Ledger,
  workspace: string,
  id: string,
  name: string,
  keep: "last" | "default" | "nothing",
): Promise<{ readonly done: SkillVersion } | "gone" | Refusal> {
  let removed: SkillVersion | undefined;
  const outcome = await remove(ledger, async () => {
    const entry = await open(store, workspace, id);
    const skill = entry.value;
    const version = (await findVersion(store, workspace, skill, name))?.value;
    // findVersion() may answer from a cache.
    if (!version || !await store.get(versionKey(workspace, id, version.id))) throw new RemovalRefused("gone");
    removed = version;
    if (keep === "last" && skill.versions === 1) throw new RemovalRefused("last_version");
    if (keep === "default" && skill.versions === 1) {
      return await removalOf(store, workspace, entry, {
        versions: [version],
        references: referencesOf(version),
      });
    }
    if (keep === "default" && skill.default?.id === version.id) throw new RemovalRefused("default_version");
    const latest = skill.latest?.id === version.id
      ? await findOlder(store, workspace, id, version.id)
      : undefined;
    const names = latest ? namesOf(latest) : skill.latest?.id === version.id ? null : skill.latest;
    const left: Skill = {
      ...latest ? { ...withoutFrontMatter(skill), ...describe(latest) } : skill,
      latest: names,
      default: skill.default?.id === version.id ? names : skill.default,
      versions: skill.versions - 1,
    };
    return {
      references: referencesOf(version),
      commit: {
        check: [{ key: entry.key, version: entry.version }],
        set: [{ key: entry.key, value: left }],
        remove: [
          ...keysOf(workspace, id, version),
          ...names === null ? [skillNameKey(workspace, skill.name, id)] : [],
        ],
      },
    };
  });
  return outcome === "done" ? { done: removed! } : outcome;
}

async function remove(ledger: Ledger, toCommit: () => Promise<Removal>): Promise<"done" | "gone" | Refusal> {
  try {
    // A lost race does not show that the skill is gone.
    if (!await ledger.release(toCommit)) throw busy();
    return "done";
  } catch (error) {
    if (error instanceof RemovalRefused) return error.why;
    throw error;
  }
}

async function open(store: Store, workspace: string, id: string): Promise<Entry<Skill>> {
  const entry = await store.get<Skill>(skillKey(workspace, id));
  if (!entry) throw new RemovalRefused("gone");
  return entry;
}

/** The newest version that is older than the one of this id. */
async function findOlder(
  store: Store,
  workspace: string,
  skill: string,
  id: string,
): Promise<SkillVersion | undefined> {
  const [older] = await listVersions(store, workspace, skill, { after: id, limit: 1, newestFirst: true });
  return older && (await store.get<SkillVersion>(versionKey(workspace, skill, older.id)))?.value;
}

/** Versions that one commit removes, and which contents they have. */
interface Oldest {
  readonly versions: readonly SkillVersion[];
  readonly references: readonly Reference[];
}

/** The oldest versions, as many as one commit may remove. */
async function readOldest(store: Store, workspace: string, skill: string): Promise<Oldest> {
  const options = { after: undefined, limit: MAX_VERSIONS_PER_COMMIT, newestFirst: false };
  const versions: SkillVersion[] = [];
  const references: Reference[] = [];
  const slice = new WorkSlice();
  for (const { id } of await listVersions(store, workspace, skill, options)) {
    // One at a time: each may have a long list of files.
    if (slice.isOver) await slice.yield();
    const version = (await store.get<SkillVersion>(versionKey(workspace, skill, id)))?.value;
    // Another call removes it.
    if (!version) break;
    const more = referencesOf(version);
    if (versions.length > 0 && references.length + more.length > MAX_REFERENCES_PER_COMMIT) break;
    versions.push(version);
    references.push(...more);
  }
  return { versions, references };
}

function keysOf(workspace: string, skill: string, { id, number }: SkillVersion): Key[] {
  return [
    versionKey(workspace, skill, id),
    versionSummaryKey(workspace, skill, id),
    versionNumberKey(workspace, skill, number),
  ];
}

/** The removal of the oldest versions of a skill that has others. */
function partialRemovalOf(
  workspace: string,
  { key, version, value: skill }: Entry<Skill>,
  { versions, references }: Oldest,
): Removal {
  const isDefaultRemoved = versions.some(({ id }) => id === skill.default?.id);
  const left: Skill = {
    ...skill,
    default: isDefaultRemoved ? skill.latest : skill.default,
    versions: skill.versions - versions.length,
  };
  return {
    references,
    commit: {
      check: [{ key, version }],
      set: [{ key, value: left }],
      remove: versions.flatMap((each) => keysOf(workspace, skill.id, each)),
    },
  };
}

/** The removal of a skill with these versions, which are all that it has. */
async function removalOf(
  store: Store,
  workspace: string,
  entry: Entry<Skill>,
  { versions, references }: Oldest,
): Promise<Removal> {
  const { id, name, display_name } = entry.value;
  const keys: Key[] = [entry.key, skillNameKey(workspace, name, id)];
  if (display_name !== null) {
    keys.push(skillTitleKey(workspace, display_name, id));
    const claim = await store.get(titleClaimKey(workspace, display_name));
    if (claim?.value === id) keys.push(claim.key);
  }
  keys.push(...versions.flatMap((version) => keysOf(workspace, id, version)));
  return {
    references,
    commit: { check: [{ key: entry.key, version: entry.version }], remove: keys },
  };
}

/** The contents of a version. */
function referencesOf({ id, files }: SkillVersion): Reference[] {
  return Array.from(new Set(files.map(({ object }) => contentOf(object))), (content) => [content, id]);
}
