/**
 * A blob store that keeps objects in a map, skills for a ledger, and a check that they are complete. Only tests
 * import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Store } from "../../store/store.ts";
import { digestOf } from "../content_digest.ts";
import { readPackage } from "../package/package.ts";
import { publish } from "../publishing/publish.ts";
import type { Blob, Skill, SkillVersion } from "../records.ts";
import { SKILL_MD } from "../test_service.ts";
import type { Ledger } from "./blob_ledger.ts";
import { contentOf } from "./blob_references.ts";
import { type BlobStore, readAll } from "./blob_store.ts";

export const HOUR = 3_600_000;
const encoder = new TextEncoder();

/** A blob store whose objects the test can read. */
export function newBlobStore(): { blobs: BlobStore; objects: Map<string, Uint8Array> } {
  const objects = new Map<string, Uint8Array>();
  const blobs: BlobStore = {
    kind: "test",
    async put(name, content, size) {
      objects.set(name, content instanceof Uint8Array ? content.slice() : await readAll(content, size));
    },
    get: async (name) => objects.has(name) ? new Response(objects.get(name)!.slice()).body! : undefined,
    remove: async (name) => void objects.delete(name),
  };
  return { blobs, objects };
}

const skill = (name: string, ...texts: string[]) =>
  readPackage([
    { path: "SKILL.md", bytes: encoder.encode(SKILL_MD.replace("name: demo", `name: ${name}`)) },
    ...texts.map((text, i) => ({ path: `file-${i}.txt`, bytes: encoder.encode(text) })),
  ], 1e7);

/** Publishes a skill in the workspace `w`. */
export function add(ledger: Ledger, name: string, ...texts: string[]): Promise<Skill> {
  return addTo("w", ledger, name, ...texts);
}

/** Publishes a skill with a file for each text. */
export async function addTo(
  workspace: string,
  ledger: Ledger,
  name: string,
  ...texts: string[]
): Promise<Skill> {
  return (await publish(ledger, workspace, await skill(name, ...texts), { now: Date.now() })).skill;
}

/** Asserts that every version is complete, every object is referenced and no other records remain. */
export async function checkBlobs(
  store: Store,
  ledger: Ledger,
  objects: ReadonlyMap<string, Uint8Array>,
): Promise<number> {
  const versions = await store.list<SkillVersion>(["skill_version"], { limit: 1000 });
  const referred: string[] = [];
  for (const { value: { id, files } } of versions) {
    for (const file of files) {
      const bytes = await ledger.read(file);
      assert.ok(bytes, `${file.path} has no object`);
      assert.is(await digestOf(bytes), file.digest);
    }
    for (const content of new Set(files.map(({ object }) => contentOf(object)))) {
      referred.push(`${content} ${id}`);
    }
  }
  const blobs = await store.list<Blob>(["blob"], { limit: 1000 });
  const references = await store.list(["blob_reference"], { limit: 5000 });
  assert.equal(references.map(({ key }) => `${key[1]} ${key[2]}`), referred.sort());
  assert.equal(blobs.filter(({ value }) => value.ending), []);
  assert.equal(
    [...objects.keys()].sort(),
    blobs.map(({ value }) => value.object).sort(),
    "unreferenced and missing objects",
  );
  assert.equal(await store.list(["blob_pending"]), []);
  assert.equal(await store.list(["blob_garbage"]), []);
  assert.equal(await store.list(["blob_released"]), []);
  return versions.length;
}
