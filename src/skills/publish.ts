/**
 * A package becomes a skill: its files are put on the shelf, then one commit writes the skill and its version, so that
 * readers see all of it or nothing.
 *
 * @module
 */
import type { Ledger } from "./blob_ledger.ts";
import { newIdentifier } from "./identifier.ts";
import { mediaTypeOf } from "./media_type_of.ts";
import type { SkillPackage } from "./package.ts";
import { type Skill, skillKey, skillNameKey, type SkillVersion, versionKey } from "./records.ts";

/** Stores a new skill with its first version. `display_name` is the skill's name when left out. */
export async function publish(
  ledger: Ledger,
  workspace: string,
  { name, description, frontMatter, directory, files }: SkillPackage,
  { displayName, now }: { displayName?: string | undefined; now: number },
): Promise<Skill> {
  const id = newIdentifier("skill", now);
  const version = newIdentifier("skver", now);
  const skill: Skill = {
    id,
    name,
    description,
    ...(frontMatter && { front_matter: frontMatter }),
    display_name: displayName ?? name,
    latest_version: version,
    created_at: new Date(now).toISOString(),
    updated_at: new Date(now).toISOString(),
  };
  const digested = await Promise.all(
    files.map(async ({ path, bytes }) => ({ path, bytes, digest: await digestOf(bytes) })),
  );
  const contents = new Map(digested.map(({ digest, bytes }) => [digest, bytes]));
  const stored = await ledger.publish(contents, (names) => {
    const record: SkillVersion = {
      id: version,
      epoch: String(now * 1000),
      name,
      description,
      directory,
      created: now,
      files: digested.map(({ path, bytes, digest }) => ({
        path,
        size: bytes.length,
        type: mediaTypeOf(path, bytes),
        digest,
        object: names.get(digest)!,
      })),
    };
    return {
      check: [{ key: skillKey(workspace, id), version: null }],
      set: [
        { key: skillKey(workspace, id), value: skill },
        { key: skillNameKey(workspace, name, id), value: "" },
        { key: versionKey(workspace, id, version), value: record },
      ],
    };
  });
  if (!stored) throw new Error(`Cannot store the skill: ${id} is taken, or its files changed all the time`);
  return skill;
}

/** `sha256:` and the digest in hexadecimal. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  return "sha256:" + Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
