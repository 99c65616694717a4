/**
 * What the Skills service stores: for each kind its key, who writes it, and what ends it. A skill, its version and
 * its files are written by one commit and removed by one commit, so none is ever seen without the others.
 * Times are milliseconds since the epoch.
 *
 * @module
 */
import type { Key } from "../store/store.ts";

/**
 * Written by `publish.ts`; ended by `remove.ts`. Holds all that a list shows. Beside it stands an empty record under
 * its name, by which the newest skill of a name is found without a look at the others.
 */
export interface Skill {
  readonly id: string;
  /** The slug of SKILL.md, which every version keeps. Two skills may share it. */
  readonly name: string;
  readonly description: string;
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
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
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
export const fileKey = (workspace: string, skill: string, version: string, path: string): Key => [
  "skill_file",
  workspace,
  skill,
  version,
  path,
];
export const apiKeyKey = (digest: string): Key => ["api_key", digest];
