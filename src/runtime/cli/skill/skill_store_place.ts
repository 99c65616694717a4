/**
 * The uploaded skills of a store, by the same rules as the service.
 *
 * @module
 */
import { createLedger, type Ledger } from "../../../skills/blobs/blob_ledger.ts";
import { type BlobStore, storeBlobs } from "../../../skills/blobs/blob_store.ts";
import { findHidden } from "../../../skills/package/hidden_text.ts";
import { readPackage } from "../../../skills/package/package.ts";
import { publish, type Published, publishVersion } from "../../../skills/publishing/publish.ts";
import { type Skill, skillKey, type SkillVersion } from "../../../skills/records.ts";
import { removeSkill, removeVersion } from "../../../skills/publishing/remove.ts";

import { findVersion, listVersions } from "../../../skills/publishing/versions.ts";
import { writeZip } from "../../../skills/archive/zip_writer.ts";
import type { Key, Store } from "../../../store/store.ts";
import { openStore, type Place } from "../data.ts";
import { NO_PROGRESS, type Progress } from "../progress_bar.ts";
import { checkSource, UPLOAD_LIMIT } from "./skill_check.ts";
import type { ListedSkill, ListedVersion, SkillPlace } from "./skill_place.ts";
import { toReported } from "./skill_problems.ts";
import { readSource } from "./skill_source.ts";

const PAGE = 100;

export async function openStorePlace(place: Place, workspace: string): Promise<SkillPlace> {
  const store = await openStore(place);
  try {
    return storePlace(store, workspace, await place.openBlobs() ?? storeBlobs(store));
  } catch (error) {
    await store.close();
    throw error;
  }
}

function storePlace(store: Store, workspace: string, shelf: BlobStore): SkillPlace {
  const ledgerFor = (progress: Progress): Ledger =>
    createLedger(store, Date.now, meteredShelf(shelf, progress));
  const ledger = ledgerFor(NO_PROGRESS);

  async function findSkill(id: string): Promise<Skill | undefined> {
    return (await store.get<Skill>(skillKey(workspace, id)))?.value;
  }

  async function findNewest(name: string): Promise<Skill | undefined> {
    const [newest] = await store.list(["skill_name", workspace, name], { limit: 1, reverse: true });
    return newest && await findSkill(newest.key[3] as string);
  }

  async function open(id: string): Promise<Skill> {
    const skill = await findSkill(id);
    if (!skill) throw noSkill(id);
    return skill;
  }

  async function openVersion(id: string, name: string): Promise<SkillVersion> {
    const entry = await findVersion(store, workspace, await open(id), name);
    if (!entry) throw new Error(`There is no version "${name}" of the skill ${id}`);
    return entry.value;
  }

  return {
    async *list() {
      let after: Key | undefined;
      for (;;) {
        const entries = await store.list<Skill>(["skill", workspace], { after, limit: PAGE, reverse: true });
        for (const { value } of entries) yield toListed(value);
        if (entries.length < PAGE) return;
        after = entries.at(-1)!.key;
      }
    },
    async find(skill) {
      const found = await findSkill(skill) ?? await findNewest(skill);
      if (!found) throw noSkill(skill);
      return toListed(found);
    },
    async findUploaded(name) {
      const found = await findNewest(name);
      return found && toListed(found);
    },
    async *versions(id) {
      let after: string | undefined;
      for (;;) {
        const some = await listVersions(store, workspace, id, { after, limit: PAGE, newestFirst: true });
        yield* some.map(toListedVersion);
        if (some.length < PAGE) return;
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
      const content = await readPackage(await readSource(source, UPLOAD_LIMIT, NO_PROGRESS), UPLOAD_LIMIT);
      progress.begin(content.files.reduce((sum, { bytes }) => sum + bytes.length, 0));
      const options = { displayName, now: Date.now() };
      const published: Published = skill === undefined
        ? await publish(ledgerFor(progress), workspace, content, options)
        : await publishVersion(ledgerFor(progress), workspace, skill, content, options);
      return {
        skill: toListed(published.skill),
        version: toListedVersion(published.version),
        warnings: content.warnings.map(toReported),
      };
    },
    async remove(id) {
      if (await removeSkill(store, ledger, workspace, id) === "gone") throw noSkill(id);
    },
    async removeVersion(id, version) {
      const outcome = await removeVersion(store, ledger, workspace, id, version, "last");
      if (outcome === "gone") {
        await openVersion(id, version);
        throw new Error("It was removed by somebody else");
      }
      if (typeof outcome === "string") {
        throw new Error(
          "The only version of a skill cannot be removed: remove the skill, or add a version first",
        );
      }
    },
    validate: (source, progress) => checkSource(source, UPLOAD_LIMIT, progress),
    close: () => store.close(),
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

function toListedVersion({ id, name, description, created }: SkillVersion): ListedVersion {
  return { id, name, description, created_at: new Date(created).toISOString() };
}

function checkLabel(label: string): void {
  const isLine = label.trim() !== "" && !/[\p{Cc}\u2028\u2029]/u.test(label) && !findHidden(label);
  if (isLine && [...label].length <= 255) return;
  throw new Error("--display-name must be one line of 1 to 255 characters, none of them hidden");
}

/** A shelf that tells of each object when it has been put there. */
function meteredShelf(shelf: BlobStore, progress: Progress): BlobStore {
  return {
    kind: shelf.kind,
    async put(name, content, size, digest) {
      await shelf.put(name, content, size, digest);
      progress.advance(size);
    },
    get: (name) => shelf.get(name),
    remove: (name) => shelf.remove(name),
  };
}

function noSkill(skill: string): Error {
  return new Error(`There is no skill "${skill}"`);
}
