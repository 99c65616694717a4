/**
 * The uploaded skills of a store, with the rules of the Skills service.
 *
 * @module
 */
import { COMMAND_LINE } from "../../../admin/operation.ts";
import { type Audit, createAudit } from "../../../observability/audit.ts";
import { createLedger, type Ledger } from "../../../skills/blobs/blob_ledger.ts";
import { type BlobStore, storeBlobs } from "../../../skills/blobs/blob_store.ts";
import { findHidden } from "../../../text/hidden_text.ts";
import { readPackage } from "../../../skills/package/package.ts";
import { publish, type Published, publishVersion } from "../../../skills/publishing/publish.ts";
import { type Skill, skillKey, type SkillVersion, type VersionSummary } from "../../../skills/records.ts";
import { removeSkill, removeVersion } from "../../../skills/publishing/remove.ts";
import { findVersion, listVersions } from "../../../skills/publishing/versions.ts";
import { writeZip } from "../../../skills/archive/zip_writer.ts";
import type { Key, Store } from "../../../store/store.ts";
import { openStore, type Place } from "../data.ts";
import { NO_PROGRESS, type Progress } from "../progress_bar.ts";
import { checkSource, MAX_UPLOAD_BYTES } from "./skill_check.ts";
import type { ListedSkill, ListedVersion, SkillPlace } from "./skill_place.ts";
import { toReported } from "./skill_problems.ts";
import { readSource } from "./skill_source.ts";

const PAGE_SIZE = 100;

export async function openStorePlace(place: Place, workspace: string): Promise<SkillPlace> {
  const store = await openStore(place);
  try {
    const blobStore = await place.openBlobs() ?? storeBlobs(store);
    return storePlace(store, workspace, blobStore, createAudit({ store }));
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** @param audit gets the changes, since no server sees them */
function storePlace(store: Store, workspace: string, blobStore: BlobStore, audit: Audit): SkillPlace {
  const by = { workspace, principal: COMMAND_LINE };
  const ledgerFor = (progress: Progress): Ledger =>
    createLedger(store, Date.now, meteredBlobStore(blobStore, progress));
  const ledger = ledgerFor(NO_PROGRESS);

  async function findSkill(id: string): Promise<Skill | undefined> {
    return (await store.get<Skill>(skillKey(workspace, id)))?.value;
  }

  async function* named(name: string): AsyncGenerator<Skill> {
    let after: Key | undefined;
    for (;;) {
      const options = { after, limit: PAGE_SIZE, reverse: true };
      const entries = await store.list(["skill_name", workspace, name], options);
      for (const { key } of entries) {
        const skill = await findSkill(key[3] as string);
        if (skill) yield skill;
      }
      if (entries.length < PAGE_SIZE) return;
      after = entries.at(-1)!.key;
    }
  }

  async function open(id: string): Promise<Skill> {
    const skill = await findSkill(id);
    if (!skill) throw skillNotFound(id);
    return skill;
  }

  async function openVersion(id: string, name: string): Promise<SkillVersion> {
    const entry = await findVersion(store, workspace, await open(id), name);
    if (!entry) throw new Error(`Version not found: "${name}" of skill ${id}`);
    return entry.value;
  }

  return {
    async *list() {
      let after: Key | undefined;
      for (;;) {
        const entries = await store.list<Skill>(["skill", workspace], {
          after,
          limit: PAGE_SIZE,
          reverse: true,
        });
        for (const { value } of entries) yield toListed(value);
        if (entries.length < PAGE_SIZE) return;
        after = entries.at(-1)!.key;
      }
    },
    async find(skill) {
      const found = await findSkill(skill);
      if (found) return toListed(found);
      for await (const newest of named(skill)) return toListed(newest);
      throw skillNotFound(skill);
    },
    async *named(name) {
      for await (const skill of named(name)) yield toListed(skill);
    },
    async *versions(id) {
      let after: string | undefined;
      for (;;) {
        const some = await listVersions(store, workspace, id, { after, limit: PAGE_SIZE, newestFirst: true });
        yield* some.map(toListedVersion);
        if (some.length < PAGE_SIZE) return;
        after = some.at(-1)!.id;
      }
    },
    version: async (id, version) => toListedVersion(await openVersion(id, version)),
    async manifest(id, version) {
      const { tokens, files } = await openVersion(id, version);
      return { tokens, files: files.map(({ path, size, type, digest }) => ({ path, size, type, digest })) };
    },
    async archive(id, version) {
      const { name, files } = await openVersion(id, version);
      const { length, stream } = writeZip(
        files.map((file) => ({ ...file, open: () => ledger.open(file) })),
        name,
      );
      return { length, chunks: stream() };
    },
    async add({ source, skill, displayName }, progress) {
      if (displayName !== undefined) checkLabel(displayName);
      const content = await readPackage(
        await readSource(source, MAX_UPLOAD_BYTES, NO_PROGRESS),
        MAX_UPLOAD_BYTES,
      );
      progress.begin(content.files.reduce((sum, { bytes }) => sum + bytes.length, 0));
      const options = { displayName, now: Date.now() };
      const published: Published = skill === undefined
        ? await publish(ledgerFor(progress), workspace, content, options)
        : await publishVersion(ledgerFor(progress), workspace, skill, content, options);
      const { id } = published.skill;
      audit.add(
        skill === undefined
          ? { type: "skill_created", id, ...by }
          : { type: "skill_version_created", id, version: published.version.id, ...by },
      );
      return {
        skill: toListed(published.skill),
        version: toListedVersion(published.version),
        warnings: content.warnings.map(toReported),
      };
    },
    async remove(id) {
      if (await removeSkill(store, ledger, workspace, id) === "gone") throw skillNotFound(id);
      audit.add({ type: "skill_deleted", id, ...by });
    },
    async removeVersion(id, version) {
      const outcome = await removeVersion(store, ledger, workspace, id, version, "last");
      if (outcome === "gone") {
        await openVersion(id, version);
        throw new Error("the version was removed by another request");
      }
      if (typeof outcome === "string") {
        throw new Error(
          "The only version of a skill cannot be removed. Remove the skill, or add another version first",
        );
      }
      audit.add({ type: "skill_version_deleted", id, version: outcome.done.id, ...by });
    },
    validate: (source, progress) => checkSource(source, MAX_UPLOAD_BYTES, progress),
    async close() {
      try {
        await audit.close();
      } finally {
        await store.close();
      }
    },
  };
}

function toListed(skill: Skill): ListedSkill {
  const { id, name, display_name, description, latest, created_at, updated_at } = skill;
  return {
    id,
    name,
    display_name: display_name ?? name,
    description,
    source: "custom",
    latest_version_id: latest?.id ?? null,
    created_at,
    updated_at,
  };
}

function toListedVersion({ id, name, description, created }: VersionSummary): ListedVersion {
  return { id, name, description, created_at: new Date(created).toISOString() };
}

function checkLabel(label: string): void {
  const isLine = label.trim() !== "" && !/[\p{Cc}\u2028\u2029]/u.test(label) && !findHidden(label);
  if (isLine && [...label].length <= 255) return;
  throw new Error("--display-name must be one line of 1 to 255 visible characters");
}

/** A blob store that reports the bytes of each object when it is stored. */
function meteredBlobStore(blobStore: BlobStore, progress: Progress): BlobStore {
  return {
    kind: blobStore.kind,
    async put(name, content, size, digest) {
      await blobStore.put(name, content, size, digest);
      progress.advance(size);
    },
    get: (name) => blobStore.get(name),
    remove: (name) => blobStore.remove(name),
  };
}

function skillNotFound(skill: string): Error {
  return new Error(
    `Skill not found in the store: "${skill}". "trivet skill list" shows what there is, with --url also local skills`,
  );
}
