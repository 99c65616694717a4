/**
 * Measures the memory of an upload of 8 MB on each runtime, over HTTP and on SQLite: the peak of a new server during the
 * upload, minus its memory before. The limit of resident memory, measured on Linux, is 16 MB; a row above it fails. The
 * other runtimes do not report memory without what their allocators reserve, so memory in use is measured on Node only.
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
import { explain } from "./reporting/explanations.ts";
import { addTable } from "./reporting/report.ts";
import { createContents, pack, UPLOAD_KINDS, type UploadKind } from "./skill_packages.ts";

const SERVER = fileURLToPath(
  new URL(
    "../../src/end_to_end/skills/test_upload_memory_server.ts",
    import.meta.url,
  ),
);
const BIN = fileURLToPath(new URL("../../node_modules/.bin/", import.meta.url));
const MAX_RESIDENT_BYTES = 16 * 1024 * 1024;
const RUNTIMES: readonly (readonly [name: string, ...args: string[]])[] = [
  ["node", "--expose-gc", "--disable-warning=ExperimentalWarning"],
  ["deno", "run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc"],
  ["bun"],
];

export interface MemoryResult {
  readonly runtime: string;
  readonly kind: string;
  /** Bytes of the heap and of buffers, including garbage; only on Node. */
  readonly used: number | undefined;
  /** Bytes of resident memory; only on Linux. */
  readonly resident: number | undefined;
}

/**
 * Measures each kind of upload on each runtime, with a new server for each.
 * @param only selects runtimes by a part of "memory of an upload, node"
 */
export async function measureUploadMemory(only?: string): Promise<MemoryResult[]> {
  const runtimes = RUNTIMES.filter(([name]) => `memory of an upload, ${name}`.includes(only ?? ""));
  if (runtimes.length === 0) return [];
  console.log(
    `\n${"Memory of an upload of 8 MB, in MB".padEnd(44)}${"in use".padStart(10)}${"resident".padStart(10)}`,
  );
  const results: MemoryResult[] = [];
  for (const [runtime, ...args] of runtimes) {
    for (const kind of UPLOAD_KINDS) {
      for (
        const inChunks of kind.packed === "no" && kind.sizes.length === 1 ? [false, true] : [false]
      ) {
        const result = await measureOne([runtime, ...args], kind, inChunks);
        results.push(result);
        print(result);
      }
    }
  }
  addTable(
    "Memory of an upload of 8 MB",
    results.map(({ runtime, kind, used, resident }) => ({
      name: `${runtime}: ${kind}`,
      explanation: explain(`memory of an upload: ${kind}`),
      others: [
        ...resident === undefined ? [] : [`${toMegabytes(resident)} MB resident`],
        ...used === undefined ? [] : [`${toMegabytes(used)} MB in use`],
      ],
      ...resident !== undefined && { ratio: MAX_RESIDENT_BYTES / resident, baseline: "the limit", target: 1 },
    })),
    "resident memory: the limit of 16 MB, divided by that of the upload",
  );
  return results;
}

async function measureOne(
  [runtime, ...args]: readonly [string, ...string[]],
  kind: UploadKind,
  inChunks: boolean,
): Promise<MemoryResult> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-bench-"));
  const child = spawn(join(BIN, runtime), [...args, SERVER, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const lines = createInterface({ input: child.stdout });
    const { url, key } = JSON.parse(
      await new Promise((resolve) => lines.once("line", resolve)),
    );
    // Code and caches of the first uploads must not count.
    for (let i = 0; i < 3; i++) {
      const small = multipart(createContents({ ...kind, sizes: [1000] }));
      await send(url, key, small, false);
    }
    const body = await pack(kind, createContents(kind));
    const before = await (await fetch(`${url}/rest`)).json();
    const resident = trackResidentMemory(child.pid!);
    await send(url, key, body, inChunks);
    const after = await (await fetch(`${url}/peak`)).json();
    return {
      runtime,
      kind: inChunks ? `${kind.name}, in chunks` : kind.name,
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
    throw new Error(
      `Upload failed: ${response.status} ${await response.text()}`,
    );
  }
  await response.body?.cancel();
}

/** Returns a function that measures the peak growth of the resident memory since this call (proc(5), clear_refs). */
function trackResidentMemory(pid: number): (() => number) | undefined {
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

/** Whether a row is within the limit, or was not measured. */
export function isWithinLimit({ resident }: Pick<MemoryResult, "resident">): boolean {
  return resident === undefined || resident <= MAX_RESIDENT_BYTES;
}

function toMegabytes(bytes: number | undefined): string {
  return bytes === undefined ? "" : (bytes / 1024 / 1024).toFixed(1);
}

function print({ runtime, kind, used, resident }: MemoryResult): void {
  const verdict = resident === undefined
    ? ""
    : isWithinLimit({ resident })
    ? "   at most 16: ok"
    : "   at most 16: FAIL";
  console.log(
    `${`${runtime}, ${kind}`.padEnd(44)}${toMegabytes(used).padStart(10)}${
      toMegabytes(resident).padStart(10)
    }${verdict}`,
  );
}
