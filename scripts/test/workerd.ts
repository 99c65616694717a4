/**
 * Runs test files on workerd: bundles them with `bun build` (workerd resolves no packages), serves them with the `workerd`
 * binary on a free loopback port, and sends one request for each. Neither tests nor product need `nodejs_compat`.
 *
 * @module
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { freePort } from "../../conformance/runner/target/free_port.ts";
import { type FileReport } from "./run_files.ts";

const COMPATIBILITY_DATE = "2026-11-01";

/** A running worker. */
export interface RunningWorker {
  readonly url: string;
  stop(): void;
}

/** Bundles a module and serves its default export on workerd. @param source TypeScript, importing by absolute path */
export async function startWorker(source: string): Promise<RunningWorker> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-workerd-"));
  try {
    writeFileSync(join(folder, "entry.ts"), source);
    const bundle = spawnSync(
      resolve("node_modules/.bin/bun"),
      [
        "build",
        join(folder, "entry.ts"),
        "--target=browser",
        "--format=esm",
        `--outfile=${join(folder, "worker.js")}`,
      ],
      { encoding: "utf8" },
    );
    if (bundle.status !== 0) throw new Error(`Cannot bundle for workerd: ${bundle.stderr}`);
    const port = await freePort();
    writeFileSync(join(folder, "config.capnp"), config(port));
    const child = spawn(resolve("node_modules/.bin/workerd"), ["serve", join(folder, "config.capnp")], {
      // Discards the dots that uvu prints.
      stdio: ["ignore", "ignore", "inherit"],
      detached: true,
    });
    const url = `http://127.0.0.1:${port}`;
    const stop = (): void => {
      kill(child);
      rmSync(folder, { recursive: true, force: true });
    };
    await waitUntilListening(port, child).catch((error) => {
      stop();
      throw error;
    });
    return { url, stop };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Runs test files, and reports the start and the result of each. */
export async function runOnWorkerd(
  files: readonly string[],
  timeoutMs: number,
  report: (message: { started: string } | FileReport) => void,
): Promise<void> {
  const worker = await startWorker(`
    import { runFile } from ${JSON.stringify(resolve("scripts/test/run_files.ts"))};
    const files = {
      ${
    files.map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(resolve(file))}),`).join(
      "\n      ",
    )
  }
    };
    export default {
      async fetch(request) {
        const file = new URL(request.url).searchParams.get("file");
        return Response.json(await runFile(file, files[file]));
      },
    };
  `);
  try {
    for (const file of files) {
      report({ started: file });
      try {
        const response = await fetch(`${worker.url}/?file=${encodeURIComponent(file)}`, {
          signal: AbortSignal.timeout(timeoutMs),
        });
        report(await response.json() as FileReport);
      } catch (error) {
        report({
          file,
          passed: 0,
          failed: 1,
          skipped: 0,
          errors: `${file} sent no response on workerd: ${String(error)}`,
        });
      }
    }
  } finally {
    worker.stop();
  }
}

function config(port: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
);
`;
}

async function waitUntilListening(port: number, child: ChildProcess): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (child.exitCode !== null) throw new Error(`workerd exited with ${child.exitCode} before it listened`);
    const isListening = await fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false);
    if (isListening) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("workerd did not listen within 10 seconds");
}

/** Kills the whole process group, because the npm package starts the binary by a script. */
function kill(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, "SIGKILL");
  } catch {
    child.kill("SIGKILL");
  }
}
