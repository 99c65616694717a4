/**
 * Runs test files on Node, Deno, Bun and workerd, in a few more processes than there are processors. Prints each failure, a
 * summary, the slowest files, and a last line `N passed, N failed, N skipped`. Exit code 1 when a test failed,
 * crashed or timed out, or when no test ran.
 *
 *   npm test                       portable tests on all runtimes (the long ones on Node), short process tests on Node
 *   npm run test:all               all tests
 *   node scripts/test.ts [--part short|rest|all] [--only TEXT] [--runtime node,deno,bun,workerd] [--times FILE]
 *
 * `--only` runs all files with TEXT in their path. `--times` writes the seconds of each file that ran, beside those known of others; `test/times.json` is such a
 * file, by which files are distributed to processes.
 *
 * @module
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { type Batch, batchFiles } from "./test/batches.ts";
import { runBatch } from "./test/run_batch.ts";
import {
  findNodeOnlyReason,
  isSelected,
  needsProcess,
  NODE_ONLY,
  type Part,
  runsAlone,
  type Runtime,
  RUNTIMES,
  type Times,
} from "./test/selection.ts";
import { type LeftOut, type Outcome, printFailure, printSummary } from "./test/summary.ts";
import { toTimes } from "./test/times.ts";

const { values } = parseArgs({
  options: {
    part: { type: "string" },
    only: { type: "string" },
    runtime: { type: "string" },
    times: { type: "string" },
  },
});
const part = (values.part ?? (values.only === undefined ? "short" : "all")) as Part;
if (!["short", "rest", "all"].includes(part)) {
  throw new Error(`Unknown part "${part}". Available: short, rest, all`);
}
const runtimes = (values.runtime?.split(",") ?? RUNTIMES) as readonly Runtime[];
const unknown = runtimes.find((runtime) => !RUNTIMES.includes(runtime));
if (unknown) throw new Error(`Unknown runtime "${unknown}". Available: ${RUNTIMES.join(", ")}`);

// Packages of other servers may be installed in conformance/targets/.
const files = globSync([
  "src/**/*_test.ts",
  "scripts/**/*_test.ts",
  "conformance/**/*_test.ts",
  "examples/**/*_test.ts",
], {
  exclude: ["**/node_modules/**"],
})
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !values.only || file.includes(values.only))
  .sort();
const times: Times = JSON.parse(readFileSync("scripts/test/times.json", "utf8"));

const started = performance.now();
const outcomes: Outcome[] = [];
const selected = runtimes.map((runtime) => ({
  runtime,
  files: files.filter((file) => isSelected(file, runtime, part, times)),
}));
const parallel = selected.flatMap(({ runtime, files }) =>
  batchFiles(runtime, files.filter((file) => !runsAlone(file)), times)
);
const alone = selected.flatMap(({ runtime, files }) => batchFiles(runtime, files.filter(runsAlone), times));
// Tests wait for timers and for other processes during much of their time; those of the rest start several processes each.
const concurrency = availableParallelism() + (part === "short" ? 2 : 1);
await runAll(parallel.sort((a, b) => b.seconds - a.seconds), concurrency);
await runAll(alone, 1);
const skippedOnWorkerd = part === "all" ? runtimes.includes("workerd") ? files.filter(needsProcess) : [] : [];
printSummary(outcomes, skippedOnWorkerd, findLeftOut(), (performance.now() - started) / 1000);
if (values.times !== undefined) {
  const known = Object.fromEntries(Object.entries(times).filter(([file]) => existsSync(file)));
  writeFileSync(values.times, JSON.stringify(toTimes(outcomes, known), null, 2) + "\n");
}

/** Files that would run on Deno or Bun in this part, if their subject depended on the runtime. */
function findLeftOut(): LeftOut[] {
  const others = runtimes.filter((runtime) => runtime === "deno" || runtime === "bun");
  if (others.length === 0 || part === "short") return [];
  return NODE_ONLY.map(({ reason }) => ({
    reason,
    runtimes: others,
    files: files.filter((file) => findNodeOnlyReason(file) === reason),
  })).filter(({ files }) => files.length > 0);
}

/** Runs up to `concurrency` batches at a time. */
async function runAll(batches: readonly Batch[], concurrency: number): Promise<void> {
  const queue = [...batches];
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (let batch; (batch = queue.shift());) {
      const { runtime } = batch;
      await runBatch(batch, times, (report) => {
        outcomes.push({ ...report, runtime });
        if (report.failed > 0) printFailure(runtime, report);
      });
    }
  }));
}
