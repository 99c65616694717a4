/**
 * Skills by path, with front matter and the digest of each file. The path of a local skill is its name; the path of an
 * uploaded one is its id and its name, because two uploads may share a name. Ids contain an underscore and names do not, so
 * paths never collide. Only skills that conform to the open specification are included.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Store } from "../../store/store.ts";
import type { Ledger } from "../blobs/blob_ledger.ts";
import type { Directory, LocalSkill } from "../local/directory.ts";
import { isWithinClientLimits, type ManifestFile, readLocalFile } from "../local/local_files.ts";
import { mayRead } from "../permission.ts";
import { type Skill, skillKey } from "../records.ts";
import type { FrontMatter } from "../package/rules.ts";
import { readSkills } from "../publishing/read_skills.ts";
import { findVersion } from "../publishing/versions.ts";

export interface SkillEntry {
  readonly id: string;
  /** Id of the version. */
  readonly version: string;
  readonly tokens: { readonly metadata: number; readonly instructions: number };
  /** Segments; the last is the name. */
  readonly path: readonly string[];
  readonly frontMatter: FrontMatter;
  /** Whether everyone may read it. */
  readonly isPublic: boolean;
  /** All files, in path order; `undefined` when the skill was deleted. */
  files(): Promise<readonly ManifestFile[] | undefined>;
  /** One file; `undefined` when there is none. */
  read(path: string): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | undefined>;
}

/** Whether the caller is offered the skill at a path. */
export type IsOffered = (path: readonly string[]) => boolean;

export interface SkillEntries {
  /**
   * At most `limit` entries: local skills by name, then uploaded ones, newest first. `after` is the `next` of the page
   * before, the path of the last skill that was looked at. A page has fewer entries than `limit` where skills are not offered.
   */
  page(
    principal: Principal | undefined,
    options: {
      readonly after?: readonly string[] | undefined;
      readonly limit: number;
      readonly isOffered?: IsOffered | undefined;
    },
  ): Promise<{ readonly entries: readonly SkillEntry[]; readonly next: readonly string[] | undefined }>;
  /** The skill whose path is the beginning of this one, and the rest; `undefined` when the caller sees none. */
  find(
    principal: Principal | undefined,
    path: readonly string[],
  ): Promise<{ readonly entry: SkillEntry; readonly rest: readonly string[] } | undefined>;
}

/** The entries of a store and local folders. */
export function createEntries(
  store: Store,
  ledger: Ledger,
  directory: Directory,
): SkillEntries {
  function toLocal(skill: LocalSkill, frontMatter: FrontMatter): SkillEntry {
    return {
      id: skill.id,
      version: skill.version,
      tokens: skill.tokens,
      path: [skill.name],
      frontMatter,
      isPublic: true,
      files: () => Promise.resolve(skill.files),
      read: (path) => readLocalFile(skill, path),
    };
  }

  function toUploaded(workspace: string, skill: Skill, frontMatter: FrontMatter): SkillEntry {
    const { id, name } = skill;
    const version = () => findVersion(store, workspace, skill, "latest");
    return {
      id,
      version: skill.latest!.id,
      tokens: skill.tokens,
      path: [id, name],
      frontMatter,
      isPublic: false,
      async files() {
        const files = (await version())?.value.files;
        const hasDigests = files !== undefined && isWithinClientLimits(files);
        return files
          ?.map(({ path, size, type, digest }) => ({
            path,
            size,
            type,
            digest: hasDigests ? digest : undefined,
          }))
          .sort((a, b) => a.path < b.path ? -1 : 1);
      },
      async read(path) {
        const file = (await version())?.value.files.find((each) => each.path === path);
        const bytes = file && await ledger.read(file);
        return bytes && { bytes, mediaType: file.type };
      },
    };
  }

  return {
    async page(principal, { after = [], limit, isOffered = () => true }) {
      const entries: SkillEntry[] = [];
      const [first, second] = after;
      if (second === undefined) {
        for (const skill of await directory.skills()) {
          if (!skill.frontMatter || first !== undefined && skill.name <= first) continue;
          if (!isOffered([skill.name])) continue;
          if (entries.length === limit) return { entries, next: entries.at(-1)!.path };
          entries.push(toLocal(skill, skill.frontMatter));
        }
      }
      if (!principal || !mayRead(principal)) return { entries, next: undefined };
      const { workspace } = principal;
      const left = limit - entries.length;
      // One more than the page holds shows whether there is a next page.
      const found = await readSkills(store, workspace, {
        after: second === undefined ? undefined : skillKey(workspace, first!),
        limit: left + 1,
      });
      let next = entries.at(-1)?.path;
      for (const { value } of found.slice(0, left)) {
        next = [value.id, value.name];
        if (value.front_matter && value.latest && isOffered(next)) {
          entries.push(toUploaded(workspace, value, value.front_matter));
        }
      }
      return { entries, next: found.length > left ? next : undefined };
    },

    async find(principal, path) {
      const [first = "", second] = path;
      const local = (await directory.skills()).find(({ name, frontMatter }) => frontMatter && name === first);
      if (local) return { entry: toLocal(local, local.frontMatter!), rest: path.slice(1) };
      if (!principal || !mayRead(principal) || !/^skill_\w{1,64}$/.test(first)) return undefined;
      const skill = (await store.get<Skill>(skillKey(principal.workspace, first)))?.value;
      if (!skill?.front_matter || !skill.latest || skill.name !== second) return undefined;
      return { entry: toUploaded(principal.workspace, skill, skill.front_matter), rest: path.slice(2) };
    },
  };
}
