/**
 * A package becomes a skill: record, version and files in one commit, so that readers see all of it or nothing.
 *
 * @module
 */
import type { Put, Store } from "../store/store.ts";
import { newIdentifier } from "./identifier.ts";
import type { SkillPackage } from "./package.ts";
import { fileKey, type Skill, skillKey, skillNameKey, type SkillVersion, versionKey } from "./records.ts";

/** Stores a new skill with its first version. `display_name` is the skill's name when left out. */
export async function publish(
  store: Store,
  workspace: string,
  { name, description, directory, files }: SkillPackage,
  { displayName, now }: { displayName?: string | undefined; now: number },
): Promise<Skill> {
  const id = newIdentifier("skill", now);
  const version = newIdentifier("skver", now);
  const skill: Skill = {
    id,
    name,
    description,
    display_name: displayName ?? name,
    latest_version: version,
    created_at: new Date(now).toISOString(),
    updated_at: new Date(now).toISOString(),
  };
  const record: SkillVersion = {
    id: version,
    epoch: String(now * 1000),
    name,
    description,
    directory,
    created: now,
    files: await Promise.all(
      files.map(async ({ path, bytes }) => ({ path, size: bytes.length, digest: await digestOf(bytes) })),
    ),
  };
  const set: Put[] = [
    { key: skillKey(workspace, id), value: skill },
    { key: skillNameKey(workspace, name, id), value: "" },
    { key: versionKey(workspace, id, version), value: record },
    ...files.map(({ path, bytes }) => ({ key: fileKey(workspace, id, version, path), value: bytes })),
  ];
  const stored = await store.commit({ check: [{ key: skillKey(workspace, id), version: null }], set });
  if (!stored) throw new Error(`Cannot store the skill: ${id} is taken`);
  return skill;
}

/** `sha256:` and the digest in hexadecimal. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  return "sha256:" + Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
