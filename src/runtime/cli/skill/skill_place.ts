/**
 * The place of the skills that `trivet skill` works on: a store, or a server of the Skills API. Commands use one
 * interface, with the objects of the API.
 *
 * @module
 */
import type { ValidationReport } from "../../../skills/package/validation_report.ts";
import type { Progress } from "../progress_bar.ts";
import type { SkillSource } from "./skill_source.ts";

export interface ListedSkill {
  readonly id: string;
  /** From SKILL.md; null where a list does not contain it. */
  readonly name: string | null;
  readonly display_name: string | null;
  readonly description: string | null;
  /** Such as custom or local. */
  readonly source: string;
  /** Null when every version was deleted. */
  readonly latest_version_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ListedVersion {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly created_at: string;
}

export interface ListedFile {
  readonly path: string;
  readonly size: number;
  readonly type: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
}

/** The contents of a version. */
export interface Manifest {
  /** The estimated cost of each level for a model. */
  readonly tokens: { readonly metadata: number; readonly instructions: number };
  readonly files: readonly ListedFile[];
}

/** A zip archive as a stream. */
export interface Archive {
  /** Bytes, where it is known. */
  readonly length: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface Added {
  readonly skill: ListedSkill;
  /** Null when it could not be read after the upload. */
  readonly version: ListedVersion | null;
  /** Advice for the author, where the place gives it. */
  readonly warnings: ValidationReport["warnings"];
}

export interface NewContent {
  readonly source: SkillSource;
  /** The skill that gets a version; a new one, when left out. */
  readonly skill?: string | undefined;
  readonly displayName?: string | undefined;
}

export interface SkillPlace {
  /** Newest first. */
  list(): AsyncIterable<ListedSkill>;
  /** By id, or the newest with this name. @throws {Error} when there is none */
  find(skill: string): Promise<ListedSkill>;
  /** The uploaded skills with this name, the newest first. */
  named(name: string): AsyncIterable<ListedSkill>;
  /** Newest first. */
  versions(id: string): AsyncIterable<ListedVersion>;
  /** By its id, or `latest`. @throws {Error} when there is none */
  version(id: string, version: string): Promise<ListedVersion>;
  /** The contents of a version; `undefined` where only its archive shows them. */
  manifest(id: string, version: string): Promise<Manifest | undefined>;
  archive(id: string, version: string): Promise<Archive>;
  /** @throws {Error} listing every broken rule */
  add(content: NewContent, progress: Progress): Promise<Added>;
  remove(id: string): Promise<void>;
  removeVersion(id: string, version: string): Promise<void>;
  /** The problems that an upload would have. */
  validate(source: SkillSource, progress: Progress): Promise<ValidationReport>;
  close(): Promise<void>;
}

/** Whether a text can be the name of a skill. Most ids cannot. */
export function isSkillName(text: string): boolean {
  return /^[\p{L}\p{M}\p{N}-]{1,64}$/u.test(text);
}

/** The newest uploaded skill with this name. */
export async function findUploaded(place: SkillPlace, name: string): Promise<ListedSkill | undefined> {
  for await (const skill of place.named(name)) return skill;
  return undefined;
}
