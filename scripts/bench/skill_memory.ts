/**
 * What memory an upload of 8 MB takes on each runtime, over HTTP and with SQLite: the most that a fresh server has while
 * one is under way, beyond what it has at rest. On Node the target is 24 MB (issue 6); the other runtimes do not tell
 * what is theirs from what their allocators keep, so only the resident memory is there, as Linux counts it.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { multipart } from "../../src/skills/test_service.ts";
import { LOADS, newContents, pack, type UploadKind } from "./skill_packages.ts";

const SERVER = fileURLToPath(
  new URL("../../src/end_to_end/skills/test_upload_memory_server.ts", import.meta.url),
);
const BIN = fileURLToPath(new URL("../../node_modules/.bin/", import.meta.url));
const MAX_BYTES = 24 * 1024 * 1024;
const RUNTIMES: readonly (readonly [name: string, ...words: string[]])[] = [
  ["node", "--expose-gc", "--disable-warning=ExperimentalWarning"],
  ["deno", "run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc"],
  ["bun"],
];

export interface MemoryResult {
  readonly runtime: string;
  readonly load: string;
  /** Bytes of the heap and of buffers, garbage with them; on Node alone. */
  readonly used: number | undefined;
  /** Bytes of resident memory; on Linux alone. */
  readonly resident: number | undefined;
}

/** Every load on every runtime, each with a server of its own. */
export async function measureUploadMemory(): Promise<MemoryResult[]> {
  console.log(
    `\n${"Memory of an upload of 8 MB, in MB".padEnd(44)}${"in use".padStart(10)}${"resident".padStart(10)}`,
  );
  const results: MemoryResult[] = [];
  for (const [runtime, ...words] of RUNTIMES) {
    for (const load of LOADS) {
      for (
        const inChunks of load.packed === "no" && load.sizes.length === 1 ? [false, true] : [false]
      ) {
        const result = await measureOne([runtime, ...words], load, inChunks);
        results.push(result);
        print(result);
      }
    }
  }
  return results;
}

async function measureOne(
  [runtime, ...words]: readonly [string, ...string[]],
  load: UploadKind,
  inChunks: boolean,
): Promise<MemoryResult> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
  const child = spawn(join(BIN, runtime), [...words, SERVER, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const lines = createInterface({ input: child.stdout });
    const { url, key } = JSON.parse(
      await new Promise((resolve) => lines.once("line", resolve)),
    );
    // What is compiled and cached by the first ones is none of the others' cost.
    for (let i = 0; i < 3; i++) {
      const small = multipart(newContents({ ...load, sizes: [1000] }));
      await send(url, key, small, false);
    }
    const body = await pack(load, newContents(load));
    const before = await (await fetch(`${url}/rest`)).json();
    const resident = startCounting(child.pid!);
    await send(url, key, body, inChunks);
    const after = await (await fetch(`${url}/peak`)).json();
    return {
      runtime,
      load: inChunks ? `${load.name}, in chunks` : load.name,
      used: runtime === "node" ? after.peak - before.peak : undefined,
      resident: resident?.(),
    };
  } finally {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

async function send(
  url: string,
  key: string,
  { body, type }: { body: Uint8Array<ArrayBuffer>; type: string },
  inChunks: boolean,
): Promise<void> {
  const response = await fetch(`${url}/v1/skills`, {
    method: "POST",
    body: inChunks ? new Blob([body]).stream() : body,
    headers: { "x-api-key": key, "content-type": type },
    ...inChunks && { duplex: "half" },
  });
  if (response.status !== 200) {
    throw new Error(`It answered ${response.status}: ${await response.text()}`);
  }
  await response.body?.cancel();
}

/** A function that tells by how much the resident memory has grown at most since now (proc(5), clear_refs). */
function startCounting(pid: number): (() => number) | undefined {
  if (!existsSync(`/proc/${pid}/clear_refs`)) return undefined;
  const read = (name: string): number =>
    Number(
      new RegExp(`${name}:\\s+(\\d+) kB`).exec(
        readFileSync(`/proc/${pid}/status`, "utf8"),
      )![1],
    ) * 1024;
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const before = read("VmRSS");
  return () => read("VmHWM") - before;
}

function print({ runtime, load, used, resident }: MemoryResult): void {
  const megabytes = (bytes: number | undefined) =>
    bytes === undefined ? "" : (bytes / 1024 / 1024).toFixed(1);
  const verdict = used === undefined ? "" : used <= MAX_BYTES ? "   target 24: met" : "   target 24: MISSED";
  console.log(
    `${`${runtime}, ${load}`.padEnd(44)}${megabytes(used).padStart(10)}${
      megabytes(resident).padStart(10)
    }${verdict}`,
  );
}
