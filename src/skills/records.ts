/**
 * The records of the Skills service: the key of each kind, who writes it, and who removes it. One commit writes a version
 * with its skill and their references to files (`blob_ledger.ts`), and one commit removes it, so no reader sees one without
 * the others. Times are milliseconds since the epoch.
 *
 * @module
 */
import type { Key } from "../store/store.ts";
import type { FrontMatter } from "./package/rules.ts";

/**
 * Written by `publish.ts`, also for each new version; removed by `remove.ts`. Holds all that a list shows, in any dialect.
 * An empty record under its name (`skillNameKey`) finds the newest skill of a name; it exists while the skill has a
 * version.
 */
export interface Skill {
  readonly id: string;
  /** The slug of SKILL.md, which every version keeps. Two skills may share it. */
  readonly name: string;
  /** Of the newest version, as the next one. */
  readonly description: string;
  /** Absent when it does not conform to the open specification. */
  readonly front_matter?: FrontMatter;
  readonly tokens: SkillVersion["tokens"];
  /** The label of the upload; `null` when there was none, and the name is shown. */
  readonly display_name: string | null;
  /** `null` when every version was deleted, as only the older dialect can. */
  readonly latest: VersionNames | null;
  /** The version that the OpenAI dialect uses when a request names none. */
  readonly default: VersionNames | null;
  /** Number of versions. */
  readonly versions: number;
  /** Of the version created last, even if deleted since: no version name is used twice. */
  readonly last: { readonly number: number; readonly created: number };
  /** ISO 8601 in UTC, as lists show them. */
  readonly created_at: string;
  readonly updated_at: string;
}

/** How the dialects name one version. */
export interface VersionNames {
  /** `skver_` and more: today's API. */
  readonly id: string;
  /** Microseconds since the epoch: `skills-2025-10-02`. */
  readonly epoch: string;
  /** 1, 2, …: OpenAI. */
  readonly number: number;
}

/** What lists show of a version, in any dialect, so that they read no lists of files. Never changes. */
export interface VersionSummary extends VersionNames {
  readonly name: string;
  readonly description: string;
  /** The wrapping folder of the upload; empty when it had none. */
  readonly directory: string;
  readonly created: number;
}

/** Never changes. `versionNumberKey` holds its id under its number, `versionSummaryKey` its summary under its id. */
export interface SkillVersion extends VersionSummary {
  readonly front_matter?: FrontMatter;
  /** Says that it has a summary: an upgrade of the store adds it to earlier records. */
  readonly listed: true;
  /** What the levels cost a model, estimated. */
  readonly tokens: { readonly metadata: number; readonly instructions: number };
  readonly files: readonly SkillFile[];
}

export interface SkillFile {
  readonly path: string;
  readonly size: number;
  /** The media type, such as `text/markdown`. */
  readonly type: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** CRC-32, for archives. */
  readonly crc: number;
  /** The object that holds the content: kind of blob store, id of the content and a random suffix, separated by `/`. */
  readonly object: string;
}

/** A content that skill versions refer to. Written and removed with the versions, by `blob_ledger.ts`. */
export interface Blob {
  readonly object: string;
  readonly size: number;
  /** Marks a content that seems unreferenced; a commit that refers to it removes the mark. */
  readonly ending?: true;
}

/** An object that is being written to the blob store. Removed by the commit that refers to it, or by collection. */
export interface BlobPending {
  /** The id of its content. */
  readonly digest: string;
  readonly since: number;
}

/** How often a skill's levels went to a model. Written by `usage.ts`; kept after the skill is deleted. */
export interface SkillUsage {
  readonly name: string;
  readonly since: number;
  readonly last: number;
  readonly levels: {
    readonly metadata: LevelUsage;
    readonly instructions: LevelUsage;
    readonly resources: LevelUsage;
  };
}

export interface LevelUsage {
  readonly count: number;
  /** Estimated, of all times together. */
  readonly tokens: number;
}

/** An API key, without its secret. Written and removed by `api_key.ts`. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  readonly scopes: readonly string[];
  readonly created: number;
}

export const skillKey = (workspace: string, id: string): Key => ["skill", workspace, id];
export const skillNameKey = (workspace: string, name: string, id: string): Key => [
  "skill_name",
  workspace,
  name,
  id,
];
export const versionKey = (workspace: string, skill: string, version: string): Key => [
  "skill_version",
  workspace,
  skill,
  version,
];
export const versionSummaryKey = (workspace: string, skill: string, version: string): Key => [
  "skill_version_summary",
  workspace,
  skill,
  version,
];
export const versionNumberKey = (workspace: string, skill: string, number: number): Key => [
  "skill_version_number",
  workspace,
  skill,
  number,
];
/** Every skill with a label, under it. */
export const skillTitleKey = (workspace: string, title: string, id: string): Key => [
  "skill_title",
  workspace,
  title,
  id,
];
/** The one skill with this label in the older dialect, where labels are unique. */
export const titleClaimKey = (
  workspace: string,
  title: string,
): Key => ["skill_title_claim", workspace, title];
export const blobKey = (content: string): Key => ["blob", content];
/** A version has a file with this content. Written and removed with the version. */
export const blobReferenceKey = (
  content: string,
  version: string,
): Key => ["blob_reference", content, version];
/** A version with this content was removed; kept until it is clear whether others have the content. */
export const blobReleasedKey = (content: string): Key => ["blob_released", content];
export const blobPendingKey = (object: string): Key => ["blob_pending", object];
/** An object without references; kept until the object is removed. */
export const blobGarbageKey = (object: string): Key => ["blob_garbage", object];
export const skillUsageKey = (workspace: string, id: string): Key => ["skill_usage", workspace, id];
export const apiKeyKey = (digest: string): Key => ["api_key", digest];
