/**
 * Deletes a skill or a version: one commit removes the records and the references to files.
 *
 * @module
 */
import { type Commit, type Entry, type Key, listAll, type Store } from "../../store/store.ts";
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

/**
 * Deletes a skill with all of its versions; with `onlyEmpty`, one that has none.
 * @returns `gone` when there is no such skill (or another call removed it first)
 * @throws {SkillError} 529 when every try lost against another writer
 */
export function removeSkill(
  store: Store,
  ledger: Ledger,
  workspace: string,
  id: string,
  { onlyEmpty = false }: { readonly onlyEmpty?: boolean } = {},
): Promise<"done" | "gone" | Refusal> {
  return remove(ledger, async () => {
    const entry = await open(store, workspace, id);
    if (onlyEmpty && entry.value.versions > 0) throw new RemovalRefused("has_versions");
    return await removalOf(store, workspace, entry);
  });
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
    if (keep === "default" && skill.versions === 1) return await removalOf(store, workspace, entry);
    if (keep === "default" && skill.default?.id === version.id) throw new RemovalRefused("default_version");
    const latest = skill.latest?.id === version.id
      ? (await listVersions(store, workspace, id, { after: version.id, limit: 1, newestFirst: true }))[0]
      : undefined;
    const names = latest ? namesOf(latest) : skill.latest?.id === version.id ? null : skill.latest;
    const left: Skill = {
      ...latest ? { ...withoutFrontMatter(skill), ...describe(latest) } : skill,
      latest: names,
      default: skill.default?.id === version.id ? names : skill.default,
      versions: skill.versions - 1,
    };
    return {
      references: referencesOf([version]),
      commit: {
        check: [{ key: entry.key, version: entry.version }],
        set: [{ key: entry.key, value: left }],
        remove: [
          versionKey(workspace, id, version.id),
          versionNumberKey(workspace, id, version.number),
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

/** The removal of a whole skill. */
async function removalOf(store: Store, workspace: string, entry: Entry<Skill>): Promise<Removal> {
  const { id, name, display_name } = entry.value;
  const keys: Key[] = [entry.key, skillNameKey(workspace, name, id)];
  if (display_name !== null) {
    keys.push(skillTitleKey(workspace, display_name, id));
    const claim = await store.get(titleClaimKey(workspace, display_name));
    if (claim?.value === id) keys.push(claim.key);
  }
  const versions: SkillVersion[] = [];
  for await (const { key, value } of listAll<SkillVersion>(store, ["skill_version", workspace, id])) {
    keys.push(key, versionNumberKey(workspace, id, value.number));
    versions.push(value);
  }
  return {
    references: referencesOf(versions),
    commit: { check: [{ key: entry.key, version: entry.version }], remove: keys },
  };
}

/** Which of these versions has which contents. */
function referencesOf(versions: readonly SkillVersion[]): Reference[] {
  return versions.flatMap(({ id, files }) =>
    Array.from(new Set(files.map(({ object }) => contentOf(object))), (content): Reference => [content, id])
  );
}
