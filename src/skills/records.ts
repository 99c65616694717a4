/**
 * What the Skills service stores: for each kind its key, who writes it, and what ends it. A skill and
 * its version are written by one commit and removed by one commit, with what they refer to (`blob_ledger.ts`), so none is
 * ever seen without the others.
 * Times are milliseconds since the epoch.
 *
 * @module
 */
import type { Key } from "../store/store.ts";
import type { FrontMatter } from "./rules.ts";

/**
 * Written by `publish.ts`; ended by `remove.ts`. Holds all that a list shows. Beside it stands an empty record under
 * its name, by which the newest skill of a name is found without a look at the others.
 */
export interface Skill {
  readonly id: string;
  /** The slug of SKILL.md, which every version keeps. Two skills may share it. */
  readonly name: string;
  readonly description: string;
  /** Of the newest version; absent when it is not as the open specification has it. */
  readonly front_matter?: FrontMatter;
  readonly display_name: string;
  readonly latest_version: string;
  /** ISO 8601 in UTC, as lists show them. */
  readonly created_at: string;
  readonly updated_at: string;
}

export interface SkillVersion {
  readonly id: string;
  /** Microseconds since the epoch: how older clients name a version. */
  readonly epoch: string;
  readonly name: string;
  readonly description: string;
  /** The wrapping folder of the upload; empty when it had none. */
  readonly directory: string;
  readonly created: number;
  readonly files: readonly SkillFile[];
}

export interface SkillFile {
  readonly path: string;
  readonly size: number;
  /** The media type, such as `text/markdown`. */
  readonly type: string;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** The object that holds the content: shelf, digest and a word of its own, with slashes between. */
  readonly object: string;
}

/** A content that skill versions refer to. Written and ended with the versions, by `blob_ledger.ts`. */
export interface Blob {
  readonly object: string;
  readonly size: number;
  /** How many versions have a file with this content. */
  readonly references: number;
}

/** An object that is being put on the shelf. Ended with the commit that refers to it, or by collection. */
export interface BlobPending {
  readonly digest: string;
  readonly since: number;
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
export const blobKey = (digest: string): Key => ["blob", digest];
export const blobPendingKey = (object: string): Key => ["blob_pending", object];
/** Names an object that nothing refers to, until it is gone. */
export const blobGarbageKey = (object: string): Key => ["blob_garbage", object];
export const apiKeyKey = (digest: string): Key => ["api_key", digest];
