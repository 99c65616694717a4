/**
 * What taking in a skill of 8 MB costs, beside no more than hashing and writing the same bytes to the same store: the
 * target is half of that rate (issue 6). Both in this process, in turns, each time with new contents.
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
import { createApiKey } from "../../src/skills/api_key.ts";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { redisStore } from "../../src/store/drivers/redis.ts";
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { dropStore } from "../cluster/cluster.ts";
import { LIMIT, LOADS, newContents, pack, type UploadKind } from "./skill_packages.ts";

const ISSUER = "http://127.0.0.1:8787";
const PIECE = 64 * 1024;
/** Bytes of a record of the yardstick. */
const RECORD = 512 * 1024;
const TARGET = 0.5;

export interface UploadResult {
  readonly store: string;
  readonly load: string;
  /** Megabytes per second. */
  readonly perSecond: number;
  readonly yardstick: number;
  /** Of the rates; and of the processor time, which the disk and other programs have no part in. */
  readonly ratio: number;
  readonly cpuRatio: number;
}

/** Every load on every engine that is there. */
export async function measureUploads(
  rounds: number,
  only?: string,
): Promise<UploadResult[]> {
  const results: UploadResult[] = [];
  console.log(
    `\nUpload of 8 MB, beside hashing and writing the same bytes; ${rounds} rounds, medians\n${
      ["", "MB/s", "hash+write", "ratio", "cpu ratio"].map((cell, i) =>
        cell.padEnd(i === 0 ? 40 : 0).padStart(12)
      )
        .join("")
    }`,
  );
  for (const [name, open] of await engines()) {
    for (const load of LOADS) {
      if (!`${name}, ${load.name}`.includes(only ?? "")) continue;
      const { store, close } = await open();
      try {
        const result = await measureOne(name, load, store, rounds);
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

async function engines(): Promise<[string, Open][]> {
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
  load: UploadKind,
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
  const taken: Cost[] = [];
  const yardsticks: Cost[] = [];
  for (let round = -2; round < rounds; round++) {
    const contents = newContents(load);
    const { body, type } = await pack(load, contents);
    let id = "";
    const request = requestOf(body, type, secret);
    collectGarbage();
    const upload = await timed(async () => {
      const response = await trivet.fetch(request);
      if (response.status !== 200) {
        throw new Error(
          `It answered ${response.status}: ${await response.text()}`,
        );
      }
      id = (await response.json()).id;
    });
    // Equal contents would be found, and not be written again.
    const others = newContents(load).map(([, bytes]) => bytes as Uint8Array<ArrayBuffer>);
    collectGarbage();
    const yardstick = await timed(() => hashAndWrite(store, others));
    await trivet.fetch(
      new Request(`${ISSUER}/v1/skills/${id}`, {
        method: "DELETE",
        headers: { "x-api-key": secret },
      }),
    );
    await clean(store);
    if (round < 0) continue;
    taken.push(upload);
    yardsticks.push(yardstick);
  }
  const rates = (costs: readonly Cost[]) => median(costs.map(({ time }) => LIMIT / 1e6 / (time / 1000)));
  return {
    store: engine,
    load: load.name,
    perSecond: rates(taken),
    yardstick: rates(yardsticks),
    ratio: median(taken.map(({ time }, i) => yardsticks[i]!.time / time)),
    cpuRatio: median(taken.map(({ cpu }, i) => yardsticks[i]!.cpu / cpu)),
  };
}

/** As a server gives it: a stream of pieces, and the length. */
function requestOf(body: Uint8Array, type: string, key: string): Request {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += PIECE) {
    pieces.push(body.slice(at, at + PIECE));
  }
  pieces.reverse();
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.pop();
      if (piece) controller.enqueue(piece);
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
  contents: readonly Uint8Array<ArrayBuffer>[],
): Promise<void> {
  for (const content of contents) {
    await crypto.subtle.digest("SHA-256", content);
  }
  // A commit for each megabyte or so, whatever the files are.
  let set: { key: readonly (string | number)[]; value: Uint8Array }[] = [];
  let bytes = 0;
  for (const [i, content] of contents.entries()) {
    for (let at = 0; at < content.length; at += RECORD) {
      const value = content.subarray(at, at + RECORD);
      set.push({ key: ["bench", i, at], value });
      bytes += value.length;
      if (bytes < 2 * RECORD) continue;
      await store.commit({ set });
      set = [];
      bytes = 0;
    }
  }
  if (set.length > 0) await store.commit({ set });
}

async function clean(store: Store): Promise<void> {
  for (;;) {
    const some = await store.list(["bench"], { limit: 20 });
    if (some.length === 0) return;
    await store.commit({ remove: some.map(({ key }) => key) });
  }
}

// So that each pays for its own garbage.
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

interface Cost {
  /** Milliseconds. */
  readonly time: number;
  readonly cpu: number;
}

async function timed(work: () => Promise<unknown>): Promise<Cost> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const time = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { time, cpu: (user + system) / 1000 };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function print(
  { store, load, perSecond, yardstick, ratio, cpuRatio }: UploadResult,
): void {
  const cells = [
    perSecond.toFixed(0),
    yardstick.toFixed(0),
    ratio.toFixed(2),
    cpuRatio.toFixed(2),
  ];
  const verdict = ratio >= TARGET ? `target ${TARGET}: met` : `target ${TARGET}: MISSED`;
  console.log(
    `${`${store}, ${load}`.padEnd(40)}${cells.map((cell) => cell.padStart(12)).join("")}   ${verdict}`,
  );
}
