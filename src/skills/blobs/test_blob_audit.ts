/**
 * Test kit: checks that a store contains a complete object for every file of every version, and no other objects.
 *
 * @module
 */
import { listAll, type Store } from "../../store/store.ts";
import { contentOf } from "./blob_references.ts";
import type { Blob, Skill, SkillVersion } from "../records.ts";

/** The inconsistencies of a store. Reads every record, so there must be no concurrent writes. */
export async function auditBlobs(store: Store): Promise<string[]> {
  const problems: string[] = [];
  const skills = new Map<string, Skill>();
  for await (const { key, value } of listAll<Skill>(store, ["skill"])) {
    skills.set(idOf(key[1], key[2]), value);
  }
  const versions = new Map<string, number>();
  const references = new Set<string>();
  const objects = new Map<string, string>();
  for await (const { key, value } of listAll<SkillVersion>(store, ["skill_version"])) {
    const skill = idOf(key[1], key[2]);
    if (!skills.has(skill)) problems.push(`version ${value.id} belongs to no skill`);
    versions.set(skill, (versions.get(skill) ?? 0) + 1);
    for (const { object } of value.files) objects.set(contentOf(object), object);
    for (const content of new Set(value.files.map(({ object }) => contentOf(object)))) {
      references.add(idOf(content, value.id));
    }
  }
  for (const [id, skill] of skills) {
    const found = versions.get(id) ?? 0;
    if (found !== skill.versions) {
      problems.push(`skill ${id} has ${found} versions and counts ${skill.versions}`);
    }
  }
  const sizes = await sizesOfObjects(store);
  for await (const { key, value } of listAll<Blob>(store, ["blob"])) {
    const digest = String(key[1]);
    if (value.ending) problems.push(`${digest} is ending`);
    if (sizes.get(value.object) !== value.size) {
      problems.push(`${value.object} has ${sizes.get(value.object)} of its ${value.size} bytes`);
    }
    if (objects.get(digest) !== value.object) {
      problems.push(`${digest} is in ${value.object}, but versions refer to ${objects.get(digest)}`);
    }
    objects.delete(digest);
    sizes.delete(value.object);
  }
  for (const digest of objects.keys()) problems.push(`${digest} is referenced and missing`);
  for await (const { key } of listAll(store, ["blob_reference"])) {
    if (!references.delete(idOf(key[1], key[2]))) problems.push(`${key.join(" ")} has no version`);
  }
  for (const reference of references) problems.push(`${reference} has no record`);
  for (const object of sizes.keys()) problems.push(`${object} is not referenced`);
  for (const kind of ["blob_pending", "blob_garbage", "blob_released"]) {
    for await (const { key } of listAll(store, [kind])) problems.push(`${key.join(" ")} is left`);
  }
  return problems;
}

function idOf(...words: readonly unknown[]): string {
  return words.join(" ");
}

/** Bytes of each object in the store itself. */
async function sizesOfObjects(store: Store): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  // Each may be half a megabyte.
  for (let page = await store.list<Uint8Array>(["blob_data"], { limit: 8 }); page.length > 0;) {
    for (const { key, value } of page) {
      sizes.set(String(key[1]), (sizes.get(String(key[1])) ?? 0) + value.length);
    }
    page = await store.list(["blob_data"], { after: page.at(-1)!.key, limit: 8 });
  }
  return sizes;
}
