/**
 * How a dialect writes the objects of the API as JSON text. Text is concatenated by hand, because serialization is most of
 * the work of a page.
 *
 * @module
 */
import type { SkillErrorType } from "../error.ts";
import type { LocalSkill } from "../local/directory.ts";
import type { Problem } from "../package/problem.ts";
import type { Skill, SkillVersion } from "../records.ts";

export type Source = "custom" | "local";

/** The members of a skill that responses show. */
export type ShownSkill = Omit<Skill, "last" | "front_matter" | "tokens">;
/** The members of a version that responses show. */
export type ShownVersion = Pick<
  SkillVersion,
  "id" | "epoch" | "number" | "name" | "description" | "directory" | "created"
>;

export interface Shape {
  skill(skill: ShownSkill, source: Source): string;
  version(skill: string, version: ShownVersion): string;
  /** `next` is a cursor, or `null` on the last page; `ids` are those of the items. */
  page(items: readonly string[], next: string | null, ids: readonly string[]): string;
  deletedSkill(id: string): string;
  deletedVersion(skill: string, version: ShownVersion): string;
  error(error: ShownError): string;
}

export interface ShownError {
  readonly type: SkillErrorType;
  readonly message: string;
  readonly requestId: string;
  /** Broken rules of a package. */
  readonly problems: readonly Problem[];
}

/** A local skill in the form of an uploaded one, with its one version. */
export function showLocal(local: LocalSkill): { skill: ShownSkill; version: ShownVersion } {
  const { id, name, description, version, epoch, modified, directory } = local;
  const time = new Date(modified).toISOString();
  const names = { id: version, epoch, number: 1 };
  return {
    skill: {
      id,
      name,
      description,
      display_name: null,
      latest: names,
      default: names,
      versions: 1,
      created_at: time,
      updated_at: time,
    },
    version: { ...names, name, description, directory, created: modified },
  };
}
