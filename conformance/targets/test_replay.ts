/**
 * The kit against a target of Trivet's, as tests ask for it: what was asked came out as it should, or stands with its
 * reason among the target's deviations. Nothing but tests imports this.
 *
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as assert from "uvu/assert";
import { readArguments } from "../runner/arguments.ts";
import { choose } from "../runner/vector/choose.ts";
import { loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { type Report, toReport } from "../runner/report/report.ts";
import { runAll } from "../runner/run.ts";
import { openTarget } from "../runner/target/open_target.ts";
import type { TargetDescription } from "../runner/target/target_description.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Everything that is asked of a server that is not on standard input. */
export const WHOLE_KIT: readonly string[] = ["oauth", "jsonrpc", "mcp", "skills"];

/** A file of this folder, as a path. */
export const targetFile = (name: string): string => join(ROOT, "targets", name);

/** @param target the path of a target file */
export async function replay(suites: readonly string[], target: string): Promise<Report> {
  const asked = readArguments([...suites, "--target", target, "--seed", "test"]);
  const requirements = loadRequirements(ROOT);
  const vectors = choose(loadVectors(ROOT, asked.suites, requirements), asked);
  const opened = await openTarget(asked);
  try {
    const started = new Date();
    const results = await runAll(vectors, { target: opened, seed: "test", mostWaiting: 0 });
    return toReport({
      asked,
      root: ROOT,
      target: opened,
      requirements,
      vectors,
      results,
      seed: "test",
      started,
    });
  } finally {
    await opened.close();
  }
}

/**
 * As `replay`, with what one run alone knows: a port, a command of this runtime.
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

/** Every MUST and SHOULD that was asked holds, or is a known deviation, and at least so many vectors were asked. */
export function check({ passed, vectors, stale }: Report, least: number): void {
  const wrong = vectors.filter(({ outcome, expected }) =>
    ["fail", "warn", "setup", "error"].includes(outcome) && expected === undefined
  );
  assert.equal(wrong.map(({ name, outcome, reason }) => `${outcome} ${name}: ${reason}`), []);
  assert.equal(stale, [], "deviations that are none");
  assert.ok(passed);
  const asked = vectors.filter(({ outcome }) => outcome !== "skip").length;
  assert.ok(asked >= least, `${asked} vectors were asked, not ${least}`);
}
