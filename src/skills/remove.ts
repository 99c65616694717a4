/**
 * Deleting a skill: record and versions in one commit, which also ends their references to files.
 *
 * @module
 */
import { type Key, listAll, type Store } from "../store/store.ts";
import type { Ledger } from "./blob_ledger.ts";
import { type Skill, skillKey, skillNameKey, type SkillVersion } from "./records.ts";

/** `false` when there is no such skill, or another call removed it first. */
export async function removeSkill(
  store: Store,
  ledger: Ledger,
  workspace: string,
  id: string,
): Promise<boolean> {
  const entry = await store.get<Skill>(skillKey(workspace, id));
  if (!entry) return false;
  const remove: Key[] = [entry.key, skillNameKey(workspace, entry.value.name, id)];
  const references = new Map<string, number>();
  for await (const { key, value } of listAll<SkillVersion>(store, ["skill_version", workspace, id])) {
    remove.push(key);
    for (const digest of new Set(value.files.map((file) => file.digest))) {
      references.set(digest, (references.get(digest) ?? 0) + 1);
    }
  }
  return await ledger.release(references, {
    check: [{ key: entry.key, version: entry.version }],
    remove,
  });
}
