/**
 * Runs the kit against a Trivet target in tests, and asserts that every vector passes or is a known deviation. Only tests
 * import this.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { parseArguments } from "../runner/arguments.ts";
import { selectVectors } from "../runner/vector/select_vectors.ts";
import { digestVectors } from "../runner/vector/digest.ts";
import { loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { type Report, toReport } from "../runner/report/report.ts";
import { runAll } from "../runner/run.ts";
import { openTarget } from "../runner/target/open_target.ts";
import type { TargetDescription } from "../runner/target/target_description.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The suites for servers over HTTP. */
export const WHOLE_KIT: readonly string[] = ["oauth", "jsonrpc", "mcp", "skills"];

/** The path of a file in this folder. */
export const targetFile = (name: string): string => join(ROOT, "targets", name);

/** @param target the path of a target file */
export async function replay(suites: readonly string[], target: string): Promise<Report> {
  const args = parseArguments([...suites, "--target", target, "--seed", "test"]);
  const requirements = loadRequirements(ROOT);
  const vectors = selectVectors(loadVectors(ROOT, args.suites, requirements), args);
  const opened = await openTarget(args);
  try {
    const started = new Date();
    const results = await runAll(vectors, { target: opened, seed: "test", maxWaitSeconds: 0 });
    return toReport({
      args,
      root: ROOT,
      target: opened,
      requirements,
      vectors,
      results,
      seed: "test",
      started,
      digest: digestVectors(vectors),
    });
  } finally {
    await opened.close();
  }
}

/**
 * Like `replay`, with members that only this run knows, such as a port or a command.
 * @param parent a target file of this folder
 */
export async function replayWith(
  suites: readonly string[],
  parent: string,
  own: TargetDescription,
): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "trivet-conformance-"));
  try {
    const file = join(folder, "target.json");
    writeFileSync(file, JSON.stringify({ extends: targetFile(parent), ...own }));
    return await replay(suites, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asserts that every MUST and SHOULD holds or is a known deviation, and that at least `minRun` vectors ran. */
export function assertPassed({ passed, vectors, stale }: Report, minRun: number): void {
  const wrong = vectors.filter(({ outcome, expected }) =>
    ["fail", "warn", "setup", "error"].includes(outcome) && expected === undefined
  );
  assert.equal(wrong.map(({ name, outcome, reason }) => `${outcome} ${name}: ${reason}`), []);
  assert.equal(stale, [], "deviations that pass");
  assert.ok(passed);
  const run = vectors.filter(({ outcome }) => outcome !== "skip").length;
  assert.ok(run >= minRun, `${run} vectors ran, expected at least ${minRun}`);
}
