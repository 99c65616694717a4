/**
 * What the Skills service stores: for each kind its key, who writes it, and what ends it. A skill and
 * its version are written by one commit and removed by one commit, with what they refer to (`blob_ledger.ts`), so none is
 * ever seen without the others.
 * Times are milliseconds since the epoch.
 *
 * @module
 */
import type { Key } from "../store/store.ts";
import type { FrontMatter } from "./package/rules.ts";

/**
 * Written by `publish.ts`, also when a version comes; ended by `remove.ts`. Holds all that a list shows, in any dialect.
 * Beside it stands an empty record under its name, by which the newest skill of a name is found without a look at the
 * others, as long as it has a version.
 */
export interface Skill {
  readonly id: string;
  /** The slug of SKILL.md, which every version keeps. Two skills may share it. */
  readonly name: string;
  /** Of the newest version, as the next one. */
  readonly description: string;
  /** Absent when it is not as the open specification has it. */
  readonly front_matter?: FrontMatter;
  readonly tokens: SkillVersion["tokens"];
  /** The label that was given; `null` when the name stands for it. */
  readonly display_name: string | null;
  /** `null` when every version was deleted, as only the older dialect can. */
  readonly latest: VersionNames | null;
  /** What the OpenAI dialect gives to whoever names no version. */
  readonly default: VersionNames | null;
  /** How many there are. */
  readonly versions: number;
  /** Of the version that was made last, whether it is still there or not: no name of a version is used twice. */
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

/** Never changed. Beside it stands its id under its number. */
export interface SkillVersion extends VersionNames {
  readonly name: string;
  readonly description: string;
  readonly front_matter?: FrontMatter;
  /** The wrapping folder of the upload; empty when it had none. */
  readonly directory: string;
  readonly created: number;
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
  /** The object that holds the content: shelf, id of the content and a word of its own, with slashes between. */
  readonly object: string;
}

/** A content that skill versions refer to. Written and ended with the versions, by `blob_ledger.ts`. */
export interface Blob {
  readonly object: string;
  readonly size: number;
  /** Nobody refers to it, as far as is known: who does takes this away. */
  readonly ending?: true;
}

/** An object that is being put on the shelf. Ended with the commit that refers to it, or by collection. */
export interface BlobPending {
  /** The id of its content. */
  readonly digest: string;
  readonly since: number;
}

/** How often a skill's levels went to a model. Written by `usage.ts`; outlives the skill, as bills do. */
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

/** Written by `api_key.ts`; ended by its removal. */
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
/** The one skill that may have this label in the older dialect, where labels differ. */
export const titleClaimKey = (
  workspace: string,
  title: string,
): Key => ["skill_title_claim", workspace, title];
export const blobKey = (content: string): Key => ["blob", content];
/** Stands for a version that has a file with this content: written and ended with the version. */
export const blobReferenceKey = (
  content: string,
  version: string,
): Key => ["blob_reference", content, version];
/** Notes that a version which had this content is gone, until somebody has looked whether others have it. */
export const blobReleasedKey = (content: string): Key => ["blob_released", content];
export const blobPendingKey = (object: string): Key => ["blob_pending", object];
/** Names an object that nothing refers to, until it is gone. */
export const blobGarbageKey = (object: string): Key => ["blob_garbage", object];
export const skillUsageKey = (workspace: string, id: string): Key => ["skill_usage", workspace, id];
export const apiKeyKey = (digest: string): Key => ["api_key", digest];
