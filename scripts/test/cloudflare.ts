/**
 * Runs test files that need Cloudflare's storage: bundles them as `workerd.ts` does, serves them on Miniflare (workerd with
 * D1 and Durable Objects, offline), and sends one request for each. Tests read the bindings from `globalThis.CLOUDFLARE`.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Miniflare } from "miniflare";
import type { FileReport } from "./run_files.ts";

/** In memory if the system has such a folder, because each commit waits until its data is written. */
const STORAGE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Runs one file inside a Durable Object that has a D1 database too. */
export function runOnCloudflare(file: string): Promise<FileReport> {
  const source = `
    import { DurableObject } from "cloudflare:workers";
    import { runFile } from ${JSON.stringify(resolve("scripts/test/run_files.ts"))};
    export class Tests extends DurableObject {
      async fetch() {
        globalThis.CLOUDFLARE = { database: this.env.DB, storage: this.ctx.storage };
        return Response.json(await runFile(${JSON.stringify(file)}, () => import(${
    JSON.stringify(resolve(file))
  })));
      }
    }
    export default {
      fetch: (request, env) => env.TESTS.get(env.TESTS.idFromName("tests")).fetch(request),
    };
  `;
  return withWorker(source, { TESTS: { className: "Tests", useSQLite: true } }, async (worker) => {
    const response = await worker.dispatchFetch("http://tests/");
    return await response.json() as FileReport;
  });
}

/** Starts a Worker with a D1 database `DB`, and stops it when `use` has settled. */
export async function withWorker<Result>(
  source: string,
  durableObjects: Record<string, { className: string; useSQLite: boolean }>,
  use: (worker: Miniflare) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-cloudflare-"));
  const storage = mkdtempSync(join(STORAGE, "trivet-cloudflare-"));
  try {
    const entry = join(folder, "entry.ts");
    const bundle = join(folder, "worker.js");
    writeFileSync(entry, source);
    const built = spawnSync(
      resolve("node_modules/.bin/bun"),
      [
        "build",
        entry,
        "--target=browser",
        "--format=esm",
        "--external=cloudflare:workers",
        `--outfile=${bundle}`,
      ],
      { encoding: "utf8" },
    );
    if (built.status !== 0) throw new Error(`Cannot bundle a Worker: ${built.stderr}`);
    const miniflare = new Miniflare({
      modules: [{ type: "ESModule", path: "worker.js", contents: readFileSync(bundle, "utf8") }],
      compatibilityDate: "2026-07-01",
      d1Databases: ["DB"],
      d1Persist: join(storage, "d1"),
      durableObjectsPersist: join(storage, "objects"),
      // Discards the dots that uvu prints.
      handleStructuredLogs: () => {},
      durableObjects,
    });
    try {
      return await use(miniflare);
    } finally {
      await miniflare.dispose();
    }
  } finally {
    for (const each of [folder, storage]) rmSync(each, { recursive: true, force: true });
  }
}
