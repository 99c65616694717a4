/**
 * Opens one skill at one version, uploaded or local, for messages, archives and the catalogue. An opened skill does not
 * change while it is read.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import type { Entry, Store } from "../../store/store.ts";
import type { Ledger } from "../blobs/blob_ledger.ts";
import type { Directory, LocalSkill } from "../local/directory.ts";
import { quoteInput, SkillError, skillNotFound, versionNotFound } from "../error.ts";
import { readLocalFile } from "../local/local_files.ts";
import { bodyOf } from "../package/markdown_parts.ts";
import { mayRead } from "../permission.ts";
import { type Skill, skillKey, type SkillVersion } from "../records.ts";
import { findVersion } from "../publishing/versions.ts";

export interface SkillLibrary {
  /**
   * Opens a skill by id or name: a local one takes precedence over an uploaded one, and a newer upload over an older one.
   * The version is any of its names. @default "latest"
   * @throws {SkillError} `not_found_error` that names the skill or version
   */
  open(principal: Principal | undefined, skill: string, version?: string): Promise<OpenSkill>;
}

export interface OpenSkill {
  readonly id: string;
  readonly source: "custom" | "local";
  /** `skver_…`, never `latest`. */
  readonly version: string;
  /** How `skills-2025-10-02` names the same version. */
  readonly epoch: string;
  readonly name: string;
  readonly description: string;
  /** What the levels cost a model, estimated. */
  readonly tokens: { readonly metadata: number; readonly instructions: number };
  /** All files, in path order. */
  files(): Promise<readonly OpenFile[]>;
  /** The body of SKILL.md. @throws {SkillError} when the skill was deleted */
  instructions(): Promise<string>;
  /** The file of exactly this path; `undefined` when there is none. */
  read(path: string): Promise<Uint8Array | undefined>;
}

export interface OpenFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly type: string | undefined;
  /** `sha256:` and 64 hexadecimal digits; absent when it is unknown until the file is read. */
  readonly digest: string | undefined;
}

/** A skill that was found; the caller may see it. */
export type Found =
  | { readonly local: LocalSkill }
  | { readonly workspace: string; readonly uploaded: Skill };

/** Finds a skill by id or name: local before uploaded, newer before older. */
export async function findSkill(
  store: Store,
  directory: Directory,
  principal: Principal | undefined,
  skill: string,
): Promise<Found | undefined> {
  const local = (await directory.skills()).find(({ id, name }) => id === skill || name === skill);
  if (local) return { local };
  if (!principal || !mayRead(principal)) return undefined;
  const { workspace } = principal;
  const entry = await store.get<Skill>(skillKey(workspace, skill)) ??
    await findNewest(store, workspace, skill);
  return entry && { workspace, uploaded: entry.value };
}

async function findNewest(store: Store, workspace: string, name: string): Promise<Entry<Skill> | undefined> {
  const [newest] = await store.list(["skill_name", workspace, name], { limit: 1, reverse: true });
  return newest && await store.get<Skill>(skillKey(workspace, newest.key[3] as string));
}

/** The library of a store and local folders. */
export function createLibrary(store: Store, ledger: Ledger, directory: Directory): SkillLibrary {
  return {
    async open(principal, skill, version = "latest") {
      const found = await findSkill(store, directory, principal, skill);
      if (!found) throw skillNotFound(skill);
      if ("local" in found) {
        if (!isVersionOf(found.local, version)) throw versionNotFound(skill, version);
        return openLocal(found.local);
      }
      const entry = await findVersion(store, found.workspace, found.uploaded, version);
      if (!entry) throw versionNotFound(skill, version);
      return openUploaded(ledger, found.uploaded.id, entry.value);
    },
  };
}

/** A local skill has one version: its current files. */
export function isVersionOf({ version, epoch }: LocalSkill, name: string): boolean {
  return name === "latest" || name === version || name === epoch || name === "1";
}

/** An uploaded skill at one version. */
export function openUploaded(ledger: Ledger, id: string, version: SkillVersion): OpenSkill {
  const { name, description, epoch, tokens, files } = version;
  const read = async (path: string): Promise<Uint8Array | undefined> => {
    const file = files.find((file) => file.path === path);
    return file && await ledger.read(file);
  };
  return {
    id,
    source: "custom",
    version: version.id,
    epoch,
    name,
    description,
    tokens,
    files: () => Promise.resolve(files),
    async instructions() {
      const markdown = await read("SKILL.md");
      if (!markdown) {
        throw new SkillError("not_found_error", `Skill ${quoteInput(name)} was deleted while it was read`);
      }
      return bodyOf(markdown);
    },
    read,
  };
}

/** The number of lines of SKILL.md before its body. */
export async function countLinesBefore(skill: OpenSkill, body: string): Promise<number> {
  const { countLines } = await import("../../http/excerpt.ts");
  const bytes = await skill.read("SKILL.md");
  return bytes ? Math.max(0, countLines(new TextDecoder().decode(bytes)) - countLines(body)) : 0;
}

/** A local skill at its current version. */
export function openLocal(skill: LocalSkill): OpenSkill {
  const { id, name, description, version, epoch, tokens, files, instructions } = skill;
  return {
    id,
    source: "local",
    version,
    epoch,
    name,
    description,
    tokens,
    files: () => Promise.resolve(files),
    instructions: () => Promise.resolve(instructions),
    read: async (path) => (await readLocalFile(skill, path))?.bytes,
  };
}
