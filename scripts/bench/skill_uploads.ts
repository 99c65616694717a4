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
import { findNoise, type Interval, median, medianInterval } from "./measuring/statistics.ts";
import { createContents, pack, PACKAGE_BYTES, UPLOAD_KINDS, type UploadKind } from "./skill_packages.ts";

const ISSUER = "http://127.0.0.1:8787";
const CHUNK_BYTES = 64 * 1024;
/** Size of a record of the baseline. */
const RECORD_BYTES = 512 * 1024;
/** Uploads in a row. */
const IN_A_ROW = 4;
const TARGET = 0.5;

export interface UploadResult {
  readonly store: string;
  readonly kind: string;
  /** Megabytes per second. */
  readonly perSecond: number;
  readonly baseline: number;
  /** Ratio of the rates; `cpuRatio` of processor time, which disk and other programs do not affect. */
  readonly ratio: number;
  readonly interval: Interval | undefined;
  readonly cpuRatio: number;
}

/** Measures each kind of upload on each available engine. */
export async function measureUploads(
  rounds: number,
  only?: string,
): Promise<UploadResult[]> {
  const results: UploadResult[] = [];
  console.log(
    `\nUpload of 8 MB, compared with hashing and writing 8 MB; ${rounds} rounds of ${IN_A_ROW} in a row, medians\n${
      ["", "MB/s", "hash+write", "ratio", "interval", "cpu ratio"].map((
        cell,
        i,
      ) => cell.padEnd(i === 0 ? 40 : 0).padStart(12))
        .join("")
    }`,
  );
  for (const [name, open] of await findEngines()) {
    for (const kind of UPLOAD_KINDS) {
      if (!`${name}, ${kind.name}`.includes(only ?? "")) continue;
      const { store, close } = await open();
      try {
        const result = await measureOne(name, kind, store, rounds);
        results.push(result);
        print(result);
      } finally {
        await close();
      }
    }
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

async function measureOne(
  engine: string,
  kind: UploadKind,
  store: Store,
  rounds: number,
): Promise<UploadResult> {
  const trivet = createTrivet({
    issuer: ISSUER,
    store,
    oauth: false,
    mcp: false,
  });
  const { secret } = await createApiKey(store, { name: "bench" });
  const uploads: Cost[] = [];
  const baselines: Cost[] = [];
  for (let round = -1; round < rounds; round++) {
    const requests: Request[] = [];
    for (let i = 0; i < IN_A_ROW; i++) {
      const { body, type } = await pack(kind, createContents(kind));
      requests.push(createUpload(body, type, secret));
    }
    const ids: string[] = [];
    const upload = await measureCost(async () => {
      for (const request of requests) {
        const response = await trivet.fetch(request);
        if (response.status !== 200) {
          throw new Error(
            `Upload failed: ${response.status} ${await response.text()}`,
          );
        }
        ids.push((await response.json()).id);
      }
    });
    for (const id of ids) {
      const url = `${ISSUER}/v1/skills/${id}`;
      await trivet.fetch(
        new Request(url, {
          method: "DELETE",
          headers: { "x-api-key": secret },
        }),
      );
    }
    // The store would not write equal contents again.
    const others = Array.from(
      { length: IN_A_ROW },
      () => createContents(kind).map(([, bytes]) => bytes as Uint8Array<ArrayBuffer>),
    );
    const baseline = await measureCost(async () => {
      for (const [i, contents] of others.entries()) {
        await hashAndWrite(store, i, contents);
      }
    });
    await removeRecords(store);
    if (round < 0) continue;
    uploads.push(upload);
    baselines.push(baseline);
  }
  const rates = (costs: readonly Cost[]) =>
    median(
      costs.map(({ time }) => IN_A_ROW * PACKAGE_BYTES / 1e6 / (time / 1000)),
    );
  const ratios = uploads.map(({ time }, i) => baselines[i]!.time / time);
  return {
    store: engine,
    kind: kind.name,
    perSecond: rates(uploads),
    baseline: rates(baselines),
    ratio: median(ratios),
    interval: medianInterval(ratios),
    cpuRatio: median(uploads.map(({ cpu }, i) => baselines[i]!.cpu / cpu)),
  };
}

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

interface Cost {
  /** Milliseconds. */
  readonly time: number;
  readonly cpu: number;
}

/** The cost of work, after a collection: see above. */
async function measureCost(work: () => Promise<unknown>): Promise<Cost> {
  collectGarbage();
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const time = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { time, cpu: (user + system) / 1000 };
}

function print(
  { store, kind, perSecond, baseline, ratio, interval, cpuRatio }: UploadResult,
): void {
  const cells = [
    perSecond.toFixed(0),
    baseline.toFixed(0),
    ratio.toFixed(2),
    interval ? `${interval.low.toFixed(2)}-${interval.high.toFixed(2)}` : "",
    cpuRatio.toFixed(2),
  ];
  const noise = findNoise({ ratio, interval, isSteady: true, machine: undefined }).length >
      0
    ? "noisy, "
    : "";
  const verdict = `${noise}target ${TARGET}: ${ratio >= TARGET ? "met" : "MISSED"}`;
  console.log(
    `${`${store}, ${kind}`.padEnd(40)}${cells.map((cell) => cell.padStart(12)).join("")}   ${verdict}`,
  );
}
