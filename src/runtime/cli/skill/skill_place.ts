/**
 * Where the skills of `trivet skill` are: a store of one's own, or a server of the Skills API. Commands see one interface,
 * whose objects are as the API has them.
 *
 * @module
 */
import type { ValidationReport } from "../../../skills/package/validation_report.ts";
import type { Progress } from "../progress_bar.ts";
import type { SkillSource } from "./skill_source.ts";

export interface ListedSkill {
  readonly id: string;
  /** Of SKILL.md; null where a list does not tell it. */
  readonly name: string | null;
  readonly display_name: string | null;
  readonly description: string | null;
  /** custom, local and their like. */
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

/** What a version holds. */
export interface Manifest {
  /** What the levels cost a model, estimated. */
  readonly tokens: { readonly metadata: number; readonly instructions: number };
  readonly files: readonly ListedFile[];
}

/** A zip archive on its way. */
export interface Archive {
  /** Bytes, where it is known. */
  readonly length: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface Added {
  readonly skill: ListedSkill;
  /** Null when only the skill could be read again. */
  readonly version: ListedVersion | null;
  /** What its author may want to better, where that is known. */
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
  /** By id, or the first in the list that has this name. @throws {Error} when there is none */
  find(skill: string): Promise<ListedSkill>;
  /** The newest uploaded one of a name. */
  findUploaded(name: string): Promise<ListedSkill | undefined>;
  /** Newest first. */
  versions(id: string): AsyncIterable<ListedVersion>;
  /** By any name that the place has for it, or `latest`. @throws {Error} when there is none */
  version(id: string, version: string): Promise<ListedVersion>;
  /** What a version holds; `undefined` where only its archive tells. */
  manifest(id: string, version: string): Promise<Manifest | undefined>;
  archive(id: string, version: string): Promise<Archive>;
  /** @throws {Error} that lists every broken rule */
  add(content: NewContent, progress: Progress): Promise<Added>;
  remove(id: string): Promise<void>;
  removeVersion(id: string, version: string): Promise<void>;
  /** What would be said to an upload. */
  validate(source: SkillSource, progress: Progress): Promise<ValidationReport>;
  close(): Promise<void>;
}
