/**
 * `npm run fuzz`: sends generated requests to each service, and checks each response and its budget (`budgets.ts`).
 *
 *   npm run fuzz -- --subject oauth --count 100000 --seed 1
 *   npm run fuzz -- --subject mcp --count 100000 --seed 1
 *   npm run fuzz -- --subject skills --count 100000 --seed 1
 *
 * Without a subject all three services get `--count` requests. Then each gets large requests (`heavy.ts`), one for 200
 * others; `--heavy` sets their number. With `node --expose-gc`, the heap is measured during the run of the tool server:
 * growth of more than 4 MB after the first fifth is a problem.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { fuzzHeavy } from "./heavy.ts";
import { fuzzMcp } from "./mcp.ts";
import { fuzzOAuth } from "./oauth.ts";
import { fuzzSkills } from "./skills.ts";

/** Maximum growth of the heap, for code and caches that are filled during the run. */
const MAX_GROWTH_BYTES = 4_000_000;
const SUBJECTS = ["oauth", "mcp", "skills"] as const;

const { values } = parseArgs({
  options: {
    subject: { type: "string" },
    count: { type: "string", default: "100000" },
    heavy: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const { subject } = values;
const { gc } = globalThis as { gc?: () => void };
const count = Number(values.count);
const heavyCount = Number(values.heavy ?? Math.ceil(count / 200));
const seed = Number(values.seed);
if (subject !== undefined && !SUBJECTS.some((each) => each === subject)) {
  throw new Error(`Unknown subject "${subject}". Available: ${SUBJECTS.join(", ")}`);
}
process.on(
  "unhandledRejection",
  (error) => reportProblem(`Unhandled rejection: ${(error as Error)?.stack}`),
);
for (const each of SUBJECTS) {
  if (subject !== undefined && subject !== each) continue;
  if (each === "mcp") await runMcp();
  else await run(each, count, () => each === "oauth" ? fuzzOAuth(count, seed) : fuzzSkills(count, seed));
  const { highest } = await run(`${each}, large`, heavyCount, () => fuzzHeavy(each, heavyCount, seed));
  for (const [name, { value, label }] of highest) console.log(`  ${name}: ${value}, ${label.slice(0, 100)}`);
}

async function runMcp(): Promise<void> {
  const { measured } = await run("mcp", count, () => fuzzMcp(count, seed, gc && measureHeap));
  for (const [sent, bytes] of measured) console.log(`  heap after ${sent}: ${toMegabytes(bytes)}`);
  const early = measured[Math.floor(measured.length / 5)];
  const growth = early ? measured.at(-1)![1] - early[1] : 0;
  if (growth > MAX_GROWTH_BYTES) reportProblem(`The heap grew by ${toMegabytes(growth)}`);
}

async function run<Findings extends { problems: readonly string[]; answers: ReadonlyMap<string, number> }>(
  name: string,
  sent: number,
  fuzz: () => Promise<Findings>,
): Promise<Findings> {
  const started = performance.now();
  const findings = await fuzz();
  const byStatus = new Map<string, number>();
  for (const [key, times] of findings.answers) {
    const status = key.split(" ").at(-1)!;
    byStatus.set(status, (byStatus.get(status) ?? 0) + times);
  }
  for (const problem of findings.problems) reportProblem(problem);
  const statuses = [...byStatus].sort(([a], [b]) => Number(a) - Number(b)).map(([status, times]) =>
    `${status}: ${times}`
  ).join(", ");
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${name}: ${sent} requests with seed ${seed} in ${seconds} s; ${statuses}`);
  console.log(`${findings.problems.length} problems`);
  return findings;
}

function measureHeap(): number {
  gc!();
  gc!();
  return process.memoryUsage().heapUsed;
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function reportProblem(problem: string): void {
  console.error(problem + "\n");
  process.exitCode = 1;
}
