/**
 * Progressive disclosure: level 1 is name and description, level 2 the instructions, level 3 the files. Over uploaded
 * skills of the caller's workspace and over local ones, which everybody may see.
 *
 * @module
 */
import type { Principal } from "../http/bearer.ts";
import type { Entry, Store } from "../store/store.ts";
import type { Directory, LocalSkill } from "./directory.ts";
import { createEntries, type SkillEntries } from "./entries.ts";
import { readSkillMarkdown } from "./front_matter.ts";
import { listLocalFiles, readLocalFile } from "./local_files.ts";
import { mediaTypeOf } from "./media_type_of.ts";
import { mayRead } from "./permission.ts";
import type { Ledger } from "./blob_ledger.ts";
import { type Skill, type SkillFile, skillKey, type SkillVersion, versionKey } from "./records.ts";

export interface Catalog extends SkillEntries {
  list(principal: Principal | undefined): Promise<CatalogEntry[]>;
  load(principal: Principal | undefined, skill: string): Promise<CatalogSkill | undefined>;
  read(
    principal: Principal | undefined,
    skill: string,
    path: string,
  ): Promise<{ bytes: Uint8Array; mediaType: string; place: readonly string[] } | undefined>;
}

export interface CatalogEntry {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly source: "local" | "custom";
}

export interface CatalogSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly files: readonly string[];
}

/** Uploaded skills that one catalogue shows at most, newest first; the rest is found by id or name. */
const MOST_UPLOADED = 500;

type Found = { readonly local: LocalSkill } | { readonly workspace: string; readonly uploaded: Skill };

/** The catalogue of a store and local folders. */
export function createCatalog(
  store: Store,
  ledger: Ledger,
  directory: Directory,
  now: () => number,
): Catalog {
  async function listUploaded(principal: Principal | undefined): Promise<Skill[]> {
    if (!principal || !mayRead(principal)) return [];
    const entries = await store.list<Skill>(["skill", principal.workspace], {
      limit: MOST_UPLOADED,
      reverse: true,
    });
    return entries.map(({ value }) => value);
  }

  /** By id or name; a local skill goes before an uploaded one, and a newer upload before an older one. */
  async function find(principal: Principal | undefined, skill: string): Promise<Found | undefined> {
    const local = (await directory.skills()).find(({ id, name }) => id === skill || name === skill);
    if (local) return { local };
    if (!principal || !mayRead(principal)) return undefined;
    const { workspace } = principal;
    const entry = await store.get<Skill>(skillKey(workspace, skill)) ?? await findNewest(workspace, skill);
    return entry && { workspace, uploaded: entry.value };
  }

  async function findNewest(workspace: string, name: string): Promise<Entry<Skill> | undefined> {
    const [newest] = await store.list(["skill_name", workspace, name], { limit: 1, reverse: true });
    return newest && await store.get<Skill>(skillKey(workspace, newest.key[3] as string));
  }

  /** A file of the newest version; `undefined` when there is none, or it was deleted between two reads. */
  async function readUploaded(files: readonly SkillFile[], path: string): Promise<Uint8Array | undefined> {
    const file = files.find((file) => file.path === path);
    return file && await ledger.read(file);
  }

  return {
    ...createEntries(store, ledger, directory, now),

    async list(principal) {
      const local = (await directory.skills()).map(({ id, name, description }) => ({
        id,
        name,
        description,
        source: "local" as const,
      }));
      const taken = new Set(local.map(({ name }) => name));
      const uploaded: CatalogEntry[] = [];
      for (const { id, name, description } of await listUploaded(principal)) {
        if (taken.has(name)) continue;
        taken.add(name);
        uploaded.push({ id, name, description, source: "custom" });
      }
      return [...local, ...uploaded];
    },

    async load(principal, skill) {
      const found = await find(principal, skill);
      if (!found) return undefined;
      if ("local" in found) {
        const { id, name, description, instructions } = found.local;
        const files = (await listLocalFiles(found.local)).map(({ path }) => path);
        return { id, name, description, instructions, files };
      }
      const { workspace, uploaded: { id, name, description, latest_version } } = found;
      const version = await store.get<SkillVersion>(versionKey(workspace, id, latest_version));
      const markdown = version && await readUploaded(version.value.files, "SKILL.md");
      if (!markdown) return undefined;
      const read = readSkillMarkdown(markdown);
      const files = version.value.files.map(({ path }) => path).sort();
      return { id, name, description, instructions: "body" in read ? read.body : "", files };
    },

    async read(principal, skill, path) {
      const found = await find(principal, skill);
      if (!found) return undefined;
      if (!("local" in found)) {
        const { workspace, uploaded: { id, name, latest_version } } = found;
        const version = await store.get<SkillVersion>(versionKey(workspace, id, latest_version));
        const bytes = version && await readUploaded(version.value.files, path);
        return bytes && { bytes, mediaType: mediaTypeOf(path, bytes), place: [id, name] };
      }
      const { local } = found;
      // Only what the listing shows can be read: a path is looked up, never joined to a folder.
      if (!(await listLocalFiles(local)).some((file) => file.path === path)) return undefined;
      const content = await readLocalFile(local, path);
      return content && { ...content, place: [local.name] };
    },
  };
}
