/**
 * Deleting a skill: record, versions and files in one commit.
 *
 * @module
 */
import { type Key, listAll, type Store } from "../store/store.ts";
import { type Skill, skillKey, skillNameKey } from "./records.ts";

/** `false` when there is no such skill, or another call removed it first. */
export async function removeSkill(store: Store, workspace: string, id: string): Promise<boolean> {
  const entry = await store.get<Skill>(skillKey(workspace, id));
  if (!entry) return false;
  const remove: Key[] = [entry.key, skillNameKey(workspace, entry.value.name, id)];
  for (const kind of ["skill_version", "skill_file"]) {
    for await (const { key } of listAll(store, [kind, workspace, id])) remove.push(key);
  }
  return await store.commit({ check: [{ key: entry.key, version: entry.version }], remove });
}
