/**
 * Runs the reference runner and the runner in Python against the same target, and compares outcome, class, observed
 * impact and failed rows of each vector. Only tests import this.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { runtimeCommand } from "../../src/end_to_end/test_process.ts";
import { replay, targetFile } from "../targets/test_replay.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PYTHON_RUNNER = join(ROOT, "runners/python/run.py");
const [program, before] = runtimeCommand();
/** Whether this machine has a Python that is recent enough. */
export const hasPython: boolean =
  spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).status === 0;
/** Generous, because other work slows the machine. */
const limits = { seconds: 60 };

export interface Verdict {
  readonly name: string;
  readonly outcome: string;
  readonly class?: string;
  readonly harm: readonly string[];
  readonly failed: readonly string[];
}

/** One line for each vector, in their order. */
export function toLines(vectors: readonly Verdict[]): string[] {
  return vectors.map(({ name, outcome, class: kind = "-", harm, failed }) =>
    `${name}: ${outcome}, ${kind}, harm [${[...harm].sort()}], failed [${[...failed].sort()}]`
  );
}

/** Runs the runner in Python. Returns its report. */
export async function runPython(
  args: readonly string[],
): Promise<{ readonly vectors: readonly Verdict[] }> {
  const child = spawn("python3", [PYTHON_RUNNER, ...args, "--seed", "test"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
  child.stderr.setEncoding("utf8").on("data", (text: string) => said += text);
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.ok(code === 0 || code === 1, `exit code ${code}: ${said}`);
  return JSON.parse(out);
}

/**
 * Compares both runners on a target. Each opens its own.
 * @param own members of a target file
 * @param minFailed how many vectors must not pass, so that verdicts are compared
 */
export async function compare(
  suites: readonly string[],
  own: Readonly<Record<string, unknown>>,
  minRun: number,
  minFailed: number,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-runners-"));
  try {
    const file = join(folder, "target.json");
    writeFileSync(file, JSON.stringify({ limits, ...own }));
    const [{ vectors }, other] = await Promise.all([
      replay(suites, file),
      runPython([...suites, "--target", file]),
    ]);
    const [python, reference] = [toLines(other.vectors), toLines(vectors)];
    assert.is(python.length, reference.length);
    // Only those that differ: all are 200 KB.
    assert.equal(
      python.filter((line, i) => line !== reference[i]),
      reference.filter((line, i) => line !== python[i]),
    );
    const run = vectors.filter(({ outcome }) => outcome !== "skip");
    assert.ok(run.length >= minRun, `${run.length} vectors ran, expected at least ${minRun}`);
    const failed = run.filter(({ outcome }) => outcome !== "pass").length;
    assert.ok(failed >= minFailed, `${failed} vectors failed, expected at least ${minFailed}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Trivet over a socket, on a free port. */
export const served: Readonly<Record<string, unknown>> = {
  extends: targetFile("trivet_served.json"),
  base: "http://127.0.0.1:{{port}}",
  start: { command: [program, ...before, targetFile("trivet_served.ts"), "{{port}}"], ready: "/" },
};

/** A target over stdio of `targets/`. */
export function overStdio(name: string): Readonly<Record<string, unknown>> {
  return {
    extends: targetFile(`${name}.json`),
    stdio: { command: [program, ...before, targetFile(`${name}.ts`)] },
  };
}

/** For the name of a test that is skipped. */
export const note: string = hasPython ? "" : " (needs Python 3.10)";
