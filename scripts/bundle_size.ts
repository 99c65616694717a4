/**
 * What an app ships: the core with all three services, and the tool server alone, minified and gzipped, against their
 * budgets. Fails past a budget, or when a bundle holds a driver or a runtime.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";

const SUBJECTS = [
  { name: "core (all three services)", entry: "src/mod.ts", budget: 60 },
  { name: "tool server alone", entry: "src/mcp/service.ts", budget: 35 },
];

const folder = mkdtempSync(join(tmpdir(), "trivet-size-"));
try {
  for (const { name, entry, budget } of SUBJECTS) {
    const file = join(folder, "out.js");
    const built = spawnSync("node_modules/.bin/bun", [
      "build",
      entry,
      "--minify",
      "--target=browser",
      `--outfile=${file}`,
    ], {
      encoding: "utf8",
    });
    if (built.status !== 0) throw new Error(built.stderr);
    const bytes = readFileSync(file);
    const kilobytes = gzipSync(bytes, { level: 9 }).length / 1024;
    const foreign = /["']node:[a-z_/]+["']|\bDeno\.|\bBun\./.exec(bytes.toString())?.[0];
    const passed = kilobytes <= budget && foreign === undefined;
    console.log(
      `${passed ? "ok  " : "FAIL"} ${name}: ${(bytes.length / 1024).toFixed(1)} KB, ${
        kilobytes.toFixed(1)
      } KB gzipped, budget ${budget} KB${foreign ? `, but it holds ${foreign}` : ""}`,
    );
    if (!passed) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
