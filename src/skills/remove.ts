/**
 * Deleting a skill: record, versions and files in one commit.
 *
 * @module
 */
import type { Key, Store } from "../store/store.ts";
import { skillKey } from "./records.ts";

/** `false` when there is no such skill, or another call removed it first. */
export async function removeSkill(store: Store, workspace: string, id: string): Promise<boolean> {
  const entry = await store.get(skillKey(workspace, id));
  if (!entry) return false;
  const remove: Key[] = [entry.key];
  for (const kind of ["skill_version", "skill_file"]) {
    const prefix = [kind, workspace, id];
    for (let page = await store.list(prefix); page.length > 0;) {
      remove.push(...page.map(({ key }) => key));
      page = await store.list(prefix, { after: page.at(-1)!.key });
    }
  }
  return await store.commit({ check: [{ key: entry.key, version: entry.version }], remove });
}
