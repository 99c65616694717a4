/**
 * Operations on uploaded skills of all workspaces. Skills are added over the Skills API.
 *
 * @module
 */
import { createLedger } from "../../skills/blobs/blob_ledger.ts";
import { removeSkill as remove } from "../../skills/publishing/remove.ts";
import { type Skill, skillKey } from "../../skills/records.ts";
import { type Entry, listAll, type Store } from "../../store/store.ts";
import { createSearch, listPage, type Page, pageInput, pageOf, type PageQuery } from "../list_page.ts";
import { type AdminOperation, notFound, type Schema } from "../operation.ts";
import { count, input, object, orNull, text, time } from "../schema.ts";

/** A skill in an answer. */
export interface AdminSkill {
  readonly id: string;
  readonly workspace: string;
  readonly name: string;
  readonly title: string | null;
  readonly description: string;
  readonly versions: number;
  readonly latest_version: string | null;
  readonly created: string;
  readonly updated: string;
}

const SKILL_OBJECT = object({
  id: text("the id"),
  workspace: text("whose skill it is"),
  name: text("the name in SKILL.md"),
  title: orNull(text("the label of the upload")),
  description: text("when a model should use it", { max: 8192 }),
  versions: count("how many versions it has"),
  latest_version: orNull(text("the id of the newest version")),
  created: time("when it was uploaded first"),
  updated: time("when it was changed last"),
});
const WORKSPACE = text("the workspace; all are searched without it", { min: 1, max: 256 });
const SKILL: Readonly<Record<string, Schema>> = {
  skill: text("the id", { min: 1, max: 256 }),
  workspace: WORKSPACE,
};

/** The path of a skill. */
export interface SkillPath {
  readonly skill: string;
  readonly workspace?: string;
}

export const listSkills: AdminOperation<PageQuery & { readonly workspace?: string }, Page<AdminSkill>> = {
  name: "listSkills",
  method: "GET",
  path: "/skills",
  summary: "List uploaded skills",
  input: pageInput({ workspace: text("only skills of this workspace", { min: 1, max: 256 }) }),
  output: pageOf(SKILL_OBJECT),
  async run({ store }, { workspace, ...query }) {
    const prefix = workspace === undefined ? ["skill"] : ["skill", workspace];
    const read = ({ key, value }: Entry<Skill>) => toAdminSkill(String(key[1]), value);
    const isFound = createSearch<AdminSkill>(
      query.search,
      ({ id, name, title, description }) => [id, name, title, description],
    );
    return await listPage(store, [{ prefix, read }], query, isFound);
  },
};

export const showSkill: AdminOperation<SkillPath, AdminSkill> = {
  name: "showSkill",
  method: "GET",
  path: "/skills/:skill",
  summary: "Show an uploaded skill",
  input: input(SKILL, ["skill"]),
  output: SKILL_OBJECT,
  run: async ({ store }, path) => await getSkill(store, path),
};

export const removeSkill: AdminOperation<SkillPath, void> = {
  name: "removeSkill",
  method: "DELETE",
  path: "/skills/:skill",
  summary: "Remove an uploaded skill with all its versions",
  input: input(SKILL, ["skill"]),
  output: undefined,
  subject: ({ skill }) => skill,
  async run({ store, now, blobs, observe, actor }, path) {
    const { id, workspace } = await getSkill(store, path);
    const outcome = await remove(store, createLedger(store, now, blobs), workspace, id);
    if (outcome === "gone") throw notFound("Skill", id);
    observe({ type: "skill_deleted", id, workspace, principal: actor });
  },
};

/** The operations of this file. */
export const SKILL_OPERATIONS: readonly AdminOperation[] = [listSkills, showSkill, removeSkill];

/** Ids are random, so no two workspaces have the same. @throws {AdminError} 404 */
async function getSkill(store: Store, { skill: id, workspace }: SkillPath): Promise<AdminSkill> {
  if (workspace !== undefined) {
    const entry = await store.get<Skill>(skillKey(workspace, id));
    if (entry) return toAdminSkill(workspace, entry.value);
  } else {
    for await (const { key, value } of listAll<Skill>(store, ["skill"])) {
      if (value.id === id) return toAdminSkill(String(key[1]), value);
    }
  }
  throw notFound("Skill", id);
}

function toAdminSkill(workspace: string, skill: Skill): AdminSkill {
  return {
    id: skill.id,
    workspace,
    name: skill.name,
    title: skill.display_name,
    description: skill.description,
    versions: skill.versions,
    latest_version: skill.latest?.id ?? null,
    created: skill.created_at,
    updated: skill.updated_at,
  };
}
