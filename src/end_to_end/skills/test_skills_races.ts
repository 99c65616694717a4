/**
 * Concurrent requests to two instances on one store: versions of one skill, and skills that are added, removed and
 * downloaded. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { entries } from "../test_entries.ts";
import type { Store } from "../../store/store.ts";
import { createTrivet } from "../../trivet.ts";
import { createApiKey } from "../../skills/api_key.ts";
import { createLedger } from "../../skills/blobs/blob_ledger.ts";
import { SKILL_MD } from "../../skills/test_service.ts";
import { auditBlobs } from "../../skills/blobs/test_blob_audit.ts";
import { readZip } from "../../skills/archive/zip_reader.ts";

const DAY = 24 * 60 * 60 * 1000;
/** A file in all skills, longer than a record. */
const SHARED = "The same in every skill.\n".repeat(30_000);

export interface Instances {
  /** Sends a request to each instance in turn. */
  send(path: string, init?: RequestInit): Promise<Response>;
  /** Uploads one package; `own` is the content of its unique file. */
  upload(path: string, name: string, own: string): Promise<Response>;
  readonly store: Store;
  close(): Promise<void>;
}

/** Starts two instances. @param open opens the store once for each instance */
export async function startInstances(open: () => Store): Promise<Instances> {
  const stores = [open(), open()];
  const { secret } = await createApiKey(stores[0]!, { name: "test" });
  const servers = await Promise.all(stores.map(async (store) => {
    const { fetch } = createTrivet({ issuer: "http://127.0.0.1:8787", store, oauth: false, mcp: false });
    return await Object.values(entries)[0]!({ fetch }, { port: 0, hostname: "127.0.0.1" });
  }));
  let turn = 0;
  const instances: Instances = {
    store: stores[0]!,
    send(path, init = {}) {
      const headers = new Headers(init.headers);
      headers.set("x-api-key", secret);
      return fetch(servers[turn++ % servers.length]!.url + path, { ...init, headers });
    },
    upload(path, name, own) {
      const body = new FormData();
      const files = {
        "SKILL.md": SKILL_MD.replace("name: demo", `name: ${name}`),
        "LICENSE.txt": SHARED,
        "own.txt": own,
      };
      for (const [file, content] of Object.entries(files)) {
        body.append("files[]", new File([content], `${name}/${file}`));
      }
      return instances.send(path, { method: "POST", body });
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      await Promise.all(stores.map((store) => store.close()));
    },
  };
  return instances;
}

/** Adds versions of one skill concurrently: each gets its own number, and none is lost. */
export async function raceVersions({ upload, send, store }: Instances, count: number): Promise<void> {
  const { id } = await (await upload("/v1/skills", "demo", "first")).json();
  const answers = await Promise.all(Array.from({ length: count }, async (_, i) => {
    const response = await upload(`/v1/skills/${id}/versions`, "demo", `version ${i}`);
    const body = await response.json();
    assert.is(response.status, 200, JSON.stringify(body));
    return [i, body.id] as const;
  }));
  const listed: { id: string }[] = (await (await send(`/v1/skills/${id}/versions?limit=100`)).json()).data;
  assert.is(listed.length, count + 1);
  assert.is(new Set(answers.map(([, version]) => version)).size, count);
  assert.equal(
    answers.map(([, version]) => version).filter((version) => !listed.some(({ id }) => id === version)),
    [],
  );
  assert.is((await (await send(`/v1/skills/${id}`)).json()).latest_version_id, listed[0]!.id);
  for (const [i, version] of answers.slice(0, 5)) {
    assert.is(await ownFileOf(await send(`/v1/skills/${id}/versions/${version}/content`)), `version ${i}`);
  }
  const numbers = (await store.list(["skill_version_number", "default", id], { limit: 200 })).map(({ key }) =>
    key[3]
  );
  assert.equal(numbers, Array.from({ length: count + 1 }, (_, i) => i + 1));
  assert.equal(await auditBlobs(store), []);
  assert.is((await send(`/v1/skills/${id}`, { method: "DELETE" })).status, 200);
  assert.equal(await auditBlobs(store), []);
  assert.equal(await store.list(["blob_data"]), []);
}

/**
 * Adds, removes and downloads skills: a download is complete, or 404, or cut; at the end exactly the skills that were not
 * deleted remain.
 */
export async function raceRemovals(instances: Instances, count: number): Promise<void> {
  const { upload, send, store } = instances;
  const outcomes = { complete: 0, notFound: 0, cut: 0 };
  const kept: string[] = [];
  await Promise.all(Array.from({ length: count }, async (_, i) => {
    const response = await upload("/v1/skills", `skill-${i}`, `own ${i}`);
    assert.is(response.status, 200);
    const { id } = await response.json();
    const isKept = i % 3 === 0;
    if (isKept) kept.push(id);
    await Promise.all([
      ...Array.from({ length: 4 }, async () => {
        await pause(Math.random() * 60);
        const outcome = await download(send, id, `own ${i}`);
        outcomes[outcome]++;
        if (isKept) assert.is(outcome, "complete");
      }),
      ...isKept ? [] : [0, 1].map(async () => {
        await pause(Math.random() * 60);
        const { status } = await send(`/v1/skills/${id}`, { method: "DELETE" });
        assert.ok(status === 200 || status === 404, String(status));
      }),
    ]);
  }));
  const { data } = await (await send("/v1/skills?limit=1000")).json();
  assert.equal(data.map(({ id }: { id: string }) => id).sort(), kept.sort());
  await createLedger(store, () => Date.now() + DAY).collect();
  assert.equal(await auditBlobs(store), []);
  // The shared file, and SKILL.md and the unique file of each skill.
  assert.is((await store.list(["blob"], { limit: 1000 })).length, 1 + 2 * kept.length);
  assert.ok(outcomes.complete > kept.length, JSON.stringify(outcomes));
  for (const id of kept) await send(`/v1/skills/${id}`, { method: "DELETE" });
  assert.equal(await store.list(["blob_data"]), []);
}

async function download(
  send: Instances["send"],
  id: string,
  own: string,
): Promise<"complete" | "notFound" | "cut"> {
  const response = await send(`/v1/skills/${id}/versions/latest/content`);
  if (response.status === 404) {
    await response.body?.cancel();
    return "notFound";
  }
  assert.is(response.status, 200);
  let content: string | undefined;
  try {
    content = await ownFileOf(response);
  } catch (error) {
    // A cut connection.
    if (error instanceof TypeError || /abort|terminated|closed|reset/i.test(String(error))) return "cut";
    throw error;
  }
  assert.is(content, own);
  return "complete";
}

/** The unique file of an archive, which must be complete. */
async function ownFileOf(response: Response): Promise<string | undefined> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const files = await readZip(bytes, 4 * 1024 * 1024);
  const shared = files.find(({ path }) => path.endsWith("/LICENSE.txt"));
  assert.is(shared?.bytes.length, SHARED.length);
  const own = files.find(({ path }) => path.endsWith("/own.txt"));
  return own && new TextDecoder().decode(own.bytes);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
