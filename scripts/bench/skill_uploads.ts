/**
 * Compares the upload of a skill of 8 MB with only hashing and writing the same number of bytes to the same store. The
 * target is half of that rate. Both run in this process, in turn, several of each in a row, with new contents.
 *
 * Garbage is collected before each row of uploads, so that none is charged for what others left, and not between them: each
 * side pays for its own. A collection makes V8's limits as small as they get, so that a single upload after it pays for a
 * whole mark-compact, which a server at work does once in several.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createTrivet, memoryStore } from "../../src/mod.ts";
import "../../src/runtime/upload/native_bytes.ts";
import { createApiKey } from "../../src/skills/api_key.ts";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { redisStore } from "../../src/store/drivers/redis.ts";
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { dropStore } from "../cluster/cluster.ts";
import { printResults, type Result, toResults } from "./harness.ts";
import { runRounds, type Sample } from "./measuring/rounds.ts";
import { createContents, pack, UPLOAD_KINDS, type UploadKind } from "./skill_packages.ts";

const ISSUER = "http://127.0.0.1:8787";
const CHUNK_BYTES = 64 * 1024;
/** Size of a record of the baseline. */
const RECORD_BYTES = 512 * 1024;
/** Uploads in a row. */
const IN_A_ROW = 4;
const TARGET = 0.5;

/** Measures each kind of upload on each available engine. @param only a part of "SQLite, one file" */
export async function measureUploads(rounds: number, only: string = ""): Promise<Result[]> {
  const results: Result[] = [];
  for (const [engine, open] of await findEngines()) {
    const kinds = UPLOAD_KINDS.filter(({ name }) => `${engine}, ${name}`.includes(only));
    if (kinds.length === 0) continue;
    const own: Result[] = [];
    for (const kind of kinds) {
      const { store, close } = await open();
      try {
        own.push(...await measureOne(engine, kind, store, rounds));
      } finally {
        await close();
      }
    }
    printResults(`Uploads of 8 MB, ${IN_A_ROW} in a row: ${engine}`, own);
    results.push(...own);
  }
  return results;
}

type Open = () => Promise<{ store: Store; close(): Promise<void> }>;

async function findEngines(): Promise<[string, Open][]> {
  const found: [string, Open][] = [
    ["memory", async () => {
      const store = memoryStore();
      return { store, close: () => store.close() };
    }],
    ["SQLite", async () => {
      const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
      const store = sqliteStore(join(folder, "uploads.db"));
      return {
        store,
        async close() {
          await store.close();
          rmSync(folder, { recursive: true });
        },
      };
    }],
  ];
  const remote = (store: Store, address: string) => ({
    store,
    async close() {
      await store.close();
      await dropStore(address);
    },
  });
  const postgres = await findEngine("postgres");
  if (postgres !== undefined) {
    const address = `${postgres}?schema=trivet_uploads`;
    found.push([
      "PostgreSQL",
      async () => remote(postgresStore(address), address),
    ]);
  }
  const redis = await findEngine("redis");
  if (redis !== undefined) {
    const address = `${redis}?name=trivet_uploads`;
    found.push(["Redis", async () => remote(redisStore(address), address)]);
  }
  return found;
}

async function measureOne(engine: string, kind: UploadKind, store: Store, rounds: number): Promise<Result[]> {
  const trivet = createTrivet({ issuer: ISSUER, store, oauth: false, mcp: false });
  const { secret } = await createApiKey(store, { name: "bench" });
  const name = `${engine}: upload, ${kind.name}`;
  const baseline = `${engine}: hash and write, ${kind.name}`;
  const runners = [{
    name: baseline,
    async run() {
      const all = createMany(() => createContents(kind).map(([, bytes]) => bytes as Uint8Array<ArrayBuffer>));
      const sample = await measureRow((i) => hashAndWrite(store, i, all[i]!));
      await removeRecords(store);
      return sample;
    },
  }, {
    name,
    async run() {
      const bodies = await Promise.all(createMany(() => pack(kind, createContents(kind))));
      const requests = bodies.map(({ body, type }) => createUpload(body, type, secret));
      const ids: string[] = [];
      const sample = await measureRow(async (i) => {
        const response = await trivet.fetch(requests[i]!);
        if (response.status !== 200) {
          throw new Error(`Upload failed: ${response.status} ${await response.text()}`);
        }
        ids.push((await response.json()).id);
      });
      const headers = { "x-api-key": secret };
      for (const id of ids) {
        await trivet.fetch(new Request(`${ISSUER}/v1/skills/${id}`, { method: "DELETE", headers }));
      }
      return sample;
    },
  }];
  const subjects = [{ name: baseline }, { name, baseline, target: TARGET }];
  return toResults(subjects, await runRounds(runners, rounds));
}

// The store would not write equal contents again, so each has its own.
const createMany = <Item>(create: () => Item): Item[] => Array.from({ length: IN_A_ROW }, create);

/** Creates a request like that of a server: a stream of chunks, with the length. */
function createUpload(body: Uint8Array, type: string, key: string): Request {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    chunks.push(body.slice(at, at + CHUNK_BYTES));
  }
  chunks.reverse();
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks.pop();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
  });
  return new Request(`${ISSUER}/v1/skills`, {
    method: "POST",
    body: stream,
    headers: {
      "content-type": type,
      "content-length": String(body.length),
      "x-api-key": key,
    },
    duplex: "half",
  } as RequestInit);
}

async function hashAndWrite(
  store: Store,
  upload: number,
  contents: readonly Uint8Array<ArrayBuffer>[],
): Promise<void> {
  for (const content of contents) {
    await crypto.subtle.digest("SHA-256", content);
  }
  // One commit for about each megabyte, whatever the files are.
  let set: { key: readonly (string | number)[]; value: Uint8Array }[] = [];
  let bytes = 0;
  for (const [i, content] of contents.entries()) {
    for (let at = 0; at < content.length; at += RECORD_BYTES) {
      const value = content.subarray(at, at + RECORD_BYTES);
      set.push({ key: ["bench", upload, i, at], value });
      bytes += value.length;
      if (bytes < 2 * RECORD_BYTES) continue;
      await store.commit({ set });
      set = [];
      bytes = 0;
    }
  }
  if (set.length > 0) await store.commit({ set });
}

async function removeRecords(store: Store): Promise<void> {
  for (;;) {
    const some = await store.list(["bench"], { limit: 20 });
    if (some.length === 0) return;
    await store.commit({ remove: some.map(({ key }) => key) });
  }
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Measures several calls in a row, after a collection: see above. */
async function measureRow(call: (i: number) => Promise<unknown>): Promise<Sample> {
  collectGarbage();
  const times: number[] = [];
  const before = process.cpuUsage();
  const started = performance.now();
  for (let i = 0; i < IN_A_ROW; i++) {
    const began = performance.now();
    await call(i);
    times.push(performance.now() - began);
  }
  const perSecond = IN_A_ROW / (performance.now() - started) * 1000;
  const { user, system } = process.cpuUsage(before);
  return { perSecond, cpu: (user + system) / IN_A_ROW, times };
}
