/**
 * Turns a package into a new skill, or the next version of one. Files are stored first, then one commit writes skill and
 * version, so that readers see all of it or nothing.
 *
 * @module
 */
import type { Commit, Store } from "../../store/store.ts";
import type { Ledger } from "../blobs/blob_ledger.ts";
import { crc32 } from "../archive/crc32.ts";
import { digestOf } from "../content_digest.ts";
import { WorkSlice } from "../../http/work_slice.ts";
import { SkillError, skillNotFound } from "../error.ts";
import { newIdentifier } from "../identifier.ts";
import { mediaTypeOf } from "../package/media_type_of.ts";
import type { SkillPackage } from "../package/package.ts";
import type { SentFile } from "../package/sent_file.ts";
import {
  type Skill,
  type SkillFile,
  skillKey,
  skillNameKey,
  skillTitleKey,
  type SkillVersion,
  titleClaimKey,
  versionKey,
  versionNumberKey,
  type VersionSummary,
  versionSummaryKey,
} from "../records.ts";

export interface Published {
  readonly skill: Skill;
  readonly version: SkillVersion;
}

export interface NewSkill {
  /** The skill's name is shown when it is omitted. */
  readonly displayName?: string | undefined;
  /** No other skill of the workspace may have this label (`skills-2025-10-02`). */
  readonly uniqueTitle?: boolean;
  readonly now: number;
  /** Called before each try of the commit; rejects when the caller may not publish any more. */
  readonly checkStillValid?: () => Promise<void>;
}

/**
 * Stores a new skill with its first version.
 * @throws {SkillError} when its label is taken
 */
export async function publish(
  ledger: Ledger,
  workspace: string,
  content: SkillPackage,
  { displayName, uniqueTitle = false, now, checkStillValid }: NewSkill,
): Promise<Published> {
  const id = newIdentifier("skill", now);
  const files = await prepare(content.files);
  let published: Published | undefined;
  const done = await ledger.publish(workspace, contentsOf(files), async (names) => {
    if (uniqueTitle && displayName !== undefined) await refuseTaken(ledger.store, workspace, displayName);
    await checkStillValid?.();
    const version = toVersion(content, files, names, { number: 1, created: now });
    const skill: Skill = {
      id,
      ...describe(version),
      display_name: displayName ?? null,
      latest: namesOf(version),
      default: namesOf(version),
      versions: 1,
      last: { number: 1, created: now },
      created_at: new Date(now).toISOString(),
      updated_at: new Date(now).toISOString(),
    };
    published = { skill, version };
    const claim = titleClaimKey(workspace, displayName ?? "");
    const claims = uniqueTitle && displayName !== undefined;
    const commit: Commit = {
      check: [
        { key: skillKey(workspace, id), version: null },
        ...claims ? [{ key: claim, version: null }] : [],
      ],
      set: [
        ...recordsOf(workspace, published),
        ...displayName === undefined ? [] : [{ key: skillTitleKey(workspace, displayName, id), value: "" }],
        ...claims ? [{ key: claim, value: id }] : [],
      ],
    };
    return { version: version.id, commit };
  });
  if (!done) {
    if (uniqueTitle && displayName !== undefined) await refuseTaken(ledger.store, workspace, displayName);
    throw busy();
  }
  return published!;
}

/**
 * Stores the next version of a skill.
 * @param isDefault whether it is also what the OpenAI dialect gives by default
 * @throws {SkillError} when there is no such skill, or the package has another name
 */
export async function publishVersion(
  ledger: Ledger,
  workspace: string,
  skillId: string,
  content: SkillPackage,
  { isDefault = false, now, checkStillValid }:
    & Pick<NewSkill, "now" | "checkStillValid">
    & { readonly isDefault?: boolean },
): Promise<Published> {
  await openFor(ledger.store, workspace, skillId, content.name);
  const files = await prepare(content.files);
  let published: Published | undefined;
  const done = await ledger.publish(workspace, contentsOf(files), async (names) => {
    // Another version may have been published since the last try.
    const entry = await openFor(ledger.store, workspace, skillId, content.name);
    await checkStillValid?.();
    const before = entry.value;
    const version = toVersion(content, files, names, {
      number: before.last.number + 1,
      // One version for each millisecond, because the time is a name of the version.
      created: Math.max(now, before.last.created + 1),
    });
    const skill: Skill = {
      ...withoutFrontMatter(before),
      ...describe(version),
      latest: namesOf(version),
      default: isDefault || !before.default ? namesOf(version) : before.default,
      versions: before.versions + 1,
      last: { number: version.number, created: version.created },
      updated_at: new Date(version.created).toISOString(),
    };
    published = { skill, version };
    const commit: Commit = {
      check: [{ key: entry.key, version: entry.version }],
      set: recordsOf(workspace, published),
    };
    return { version: version.id, commit };
  });
  if (!done) throw busy();
  return published!;
}

/** The members of a skill that come from its newest version. */
export function describe(
  { name, description, front_matter, tokens }: SkillVersion,
): Pick<Skill, "name" | "description" | "front_matter" | "tokens"> {
  return { name, description, tokens, ...(front_matter && { front_matter }) };
}

export function withoutFrontMatter({ front_matter: _, ...rest }: Skill): Omit<Skill, "front_matter"> {
  return rest;
}

export function namesOf({ id, epoch, number }: SkillVersion): NonNullable<Skill["latest"]> {
  return { id, epoch, number };
}

async function openFor(store: Store, workspace: string, id: string, name: string) {
  const entry = await store.get<Skill>(skillKey(workspace, id));
  if (!entry) throw skillNotFound(id);
  if (entry.value.name !== name) {
    const message =
      `field 'name' in SKILL.md must be "${entry.value.name}", as in every version of this skill, but is "${name}"`;
    throw new SkillError("invalid_request_error", message, {
      problems: [{
        file: "SKILL.md",
        line: undefined,
        rule: "name-changed",
        message,
        hint: "create a new skill for another name",
      }],
    });
  }
  return entry;
}

async function refuseTaken(store: Store, workspace: string, title: string): Promise<void> {
  const [taken] = await store.list(["skill_title", workspace, title], { limit: 1 });
  if (taken) {
    throw new SkillError(
      "invalid_request_error",
      `Skill cannot reuse an existing display_title: ${title}`,
    );
  }
}

interface PreparedFile extends SentFile {
  readonly digest: string;
  readonly crc: number;
}

/** Limits of one batch: bytes, because hashing may copy them, and files, because each call takes time on the event loop. */
const HASHED_AT_ONCE = 1024 * 1024;
const FILES_AT_ONCE = 100;

async function prepare(files: readonly SentFile[]): Promise<PreparedFile[]> {
  const prepared: PreparedFile[] = [];
  const slice = new WorkSlice();
  for (let from = 0; from < files.length;) {
    let to = from;
    let bytes = 0;
    do bytes += files[to++]!.bytes.length; while (
      to < files.length && to - from < FILES_AT_ONCE && bytes + files[to]!.bytes.length <= HASHED_AT_ONCE
    );
    const some = files.slice(from, to);
    // Web Crypto computes digests on other threads; checksums are computed here at the same time.
    const digests = Promise.all(some.map(({ bytes, digest }) => digest ?? digestOf(bytes, slice)));
    const checksums = some.map(({ bytes, crc }) => crc ?? crc32(bytes));
    const made = await digests;
    prepared.push(...some.map((file, i) => ({ ...file, digest: made[i]!, crc: checksums[i]! })));
    if (slice.isOver) await slice.yield();
    from = to;
  }
  return prepared;
}

function contentsOf(files: readonly PreparedFile[]): Map<string, Uint8Array> {
  return new Map(files.map(({ digest, bytes }) => [digest, bytes]));
}

function toVersion(
  { name, description, frontMatter, directory, tokens }: SkillPackage,
  files: readonly PreparedFile[],
  objects: ReadonlyMap<string, string>,
  { number, created }: { readonly number: number; readonly created: number },
): SkillVersion {
  return {
    id: newIdentifier("skver", created),
    epoch: String(created * 1000),
    number,
    name,
    description,
    ...(frontMatter && { front_matter: frontMatter }),
    directory,
    created,
    tokens,
    listed: true,
    files: files.map(({ path, bytes, digest, crc }): SkillFile => ({
      path,
      size: bytes.length,
      type: mediaTypeOf(path, bytes),
      digest,
      crc,
      object: objects.get(digest)!,
    })).sort((a, b) => a.path < b.path ? -1 : 1),
  };
}

function summarize(
  { id, epoch, number, name, description, directory, created }: SkillVersion,
): VersionSummary {
  return { id, epoch, number, name, description, directory, created };
}

function recordsOf(workspace: string, { skill, version }: Published): NonNullable<Commit["set"]> {
  return [
    { key: skillKey(workspace, skill.id), value: skill },
    { key: skillNameKey(workspace, skill.name, skill.id), value: "" },
    { key: versionKey(workspace, skill.id, version.id), value: version },
    { key: versionSummaryKey(workspace, skill.id, version.id), value: summarize(version) },
    { key: versionNumberKey(workspace, skill.id, version.number), value: version.id },
  ];
}

/** The error for a writer that lost every race. Nothing was written, so the client can retry. */
export function busy(): SkillError {
  return new SkillError(
    "overloaded_error",
    "Too many concurrent writes to this skill or its files. Try again.",
    {
      status: 529,
      fields: [["retry-after", "1"]],
    },
  );
}
