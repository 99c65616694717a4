/**
 * The skills that anyone may read without a key: local ones, and uploads of workspaces, where the operator makes them public.
 * For each name there is one skill: local before uploaded, earlier workspace before later, newer upload before older. It is
 * hidden if `metadata.internal` is true, or if its front matter does not conform to the open specification, because a
 * client may refuse a whole index for one entry.
 *
 * @module
 */
import type { Store } from "../../store/store.ts";
import { type ArchiveFile, type KnownFile, localFiles, uploadedFiles } from "../archive/archive_file.ts";
import type { Ledger } from "../blobs/blob_ledger.ts";
import type { Directory, LocalSkill } from "../local/directory.ts";
import { type Skill, skillKey } from "../records.ts";
import type { FrontMatter } from "../package/rules.ts";
import { readSkills } from "../publishing/read_skills.ts";
import { findVersion } from "../publishing/versions.ts";

export interface PublicSkill {
  readonly name: string;
  readonly description: string;
  /** Whether its files are in the store and never change, or are read from a folder. */
  readonly isUploaded: boolean;
  /** By path; `undefined` when the skill is gone, or exceeds the limits of clients. */
  files(): Promise<readonly PublicFile[] | undefined>;
}

export type PublicFile = ArchiveFile & Pick<KnownFile, "digest">;

export interface PublicSkills {
  /** By name; at most 1,000, the newest ones of the first 2,000 uploads that a workspace has. */
  list(): Promise<readonly PublicSkill[]>;
  /** The skill of this name; `undefined` when there is none, or it is hidden. */
  find(name: string): Promise<PublicSkill | undefined>;
}

export interface PublicSkillsOptions {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly directory: Directory;
  /** Whether local skills are public. A private one does not hide an upload of its name. */
  readonly local: boolean;
  /** The workspaces whose uploads are public. */
  readonly workspaces: readonly string[];
}

const MAX_SKILLS = 1000;
const MAX_UPLOADS = 2000;
/** Limits of `npx skills`. */
const MAX_FILES = 1000;
const MAX_TOTAL_BYTES = 50 * 1024 * 1024;

export function createPublicSkills(options: PublicSkillsOptions): PublicSkills {
  const { store, ledger, directory, local, workspaces } = options;
  // A cache by version, of listed skills only: versions never change, and only a list says which are superseded.
  let known = new Map<string, readonly PublicFile[] | undefined>();
  const localSkills = async () => local ? await directory.skills() : [];
  const locals = new WeakMap<LocalSkill, readonly PublicFile[] | undefined>();

  function toLocal(skill: LocalSkill): PublicSkill | undefined {
    const { name, frontMatter } = skill;
    if (!frontMatter || isInternal(frontMatter)) return undefined;
    // A changed skill is another object, so its list of files is cached with it.
    const files = locals.has(skill) ? locals.get(skill) : filesWithinClientLimits(localFiles(skill));
    locals.set(skill, files);
    const { description } = frontMatter;
    return { name, description, isUploaded: false, files: () => Promise.resolve(files) };
  }

  function toUploaded(workspace: string, skill: Skill, isListed: boolean): PublicSkill | undefined {
    const { name, front_matter: frontMatter, latest } = skill;
    if (!frontMatter || !latest || isInternal(frontMatter)) return undefined;
    return {
      name,
      description: frontMatter.description,
      isUploaded: true,
      async files() {
        if (known.has(latest.id)) return known.get(latest.id);
        const entry = await findVersion(store, workspace, skill, "latest");
        if (!entry) return undefined;
        const files = filesWithinClientLimits(uploadedFiles(ledger, entry.value.files));
        if (isListed) known.set(latest.id, files);
        return files;
      },
    };
  }

  /** Newest first, and whether the list is complete. */
  async function listUploads(workspace: string): Promise<{ uploads: Skill[]; isAll: boolean }> {
    const entries = await readSkills(store, workspace, { limit: MAX_UPLOADS });
    return { uploads: entries.map(({ value }) => value), isAll: entries.length < MAX_UPLOADS };
  }

  async function findUploaded(workspace: string, name: string): Promise<Skill | undefined> {
    const [newest] = await store.list(["skill_name", workspace, name], { limit: 1, reverse: true });
    return newest && (await store.get<Skill>(skillKey(workspace, newest.key[3] as string)))?.value;
  }

  return {
    async list() {
      const byName = new Map<string, PublicSkill | undefined>();
      const versions = new Set<string>();
      for (const skill of await localSkills()) byName.set(skill.name, toLocal(skill));
      for (const workspace of workspaces) {
        const { uploads, isAll } = await listUploads(workspace);
        for (const skill of uploads) {
          // A skill without a version is not served.
          if (!skill.latest || byName.has(skill.name)) continue;
          byName.set(skill.name, toUploaded(workspace, skill, true));
          versions.add(skill.latest.id);
        }
        // A skill that was not read may have precedence over those of the next workspace.
        if (!isAll) break;
      }
      known = new Map([...known].filter(([version]) => versions.has(version)));
      return [...byName.values()].filter((skill) => skill !== undefined)
        .slice(0, MAX_SKILLS)
        .sort((a, b) => a.name < b.name ? -1 : 1);
    },

    async find(name) {
      const found = (await localSkills()).find((skill) => skill.name === name);
      if (found) return toLocal(found);
      for (const workspace of workspaces) {
        const skill = await findUploaded(workspace, name);
        if (skill?.latest) return toUploaded(workspace, skill, false);
      }
      return undefined;
    },
  };
}

/** The files, if they are within the limits of clients. */
function filesWithinClientLimits(files: readonly ArchiveFile[]): readonly PublicFile[] | undefined {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const isTaken = files.length <= MAX_FILES && bytes <= MAX_TOTAL_BYTES &&
    files.every(({ digest }) => digest !== undefined);
  return isTaken ? files as PublicFile[] : undefined;
}

/** The value must be the string "true"; other types do not conform. */
function isInternal({ metadata }: FrontMatter): boolean {
  return (metadata as { readonly internal?: unknown } | undefined)?.internal === "true";
}
