/**
 * `npm run fuzz`: servers under generated requests.
 *
 *   npm run fuzz -- --subject oauth --count 100000 --seed 1
 *   npm run fuzz -- --subject mcp --count 100000 --seed 1
 *
 * Without a subject both are sent as many. With `node --expose-gc`, the heap of the tool server's run is measured after a
 * fifth of it and at its end: a difference of more than 4 MB is a problem.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { fuzzMcp } from "./mcp.ts";
import { fuzzOAuth } from "./oauth.ts";

/** Bytes by which the heap may grow over a run, for code and caches that are still warming up. */
const MOST_GROWTH = 4_000_000;

const { values } = parseArgs({
  options: {
    subject: { type: "string" },
    count: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
  },
});
const { subject, seed } = values;
const { gc } = globalThis as { gc?: () => void };
const count = Number(values.count);
if (subject !== undefined && subject !== "oauth" && subject !== "mcp") {
  throw new Error(`There is no subject "${subject}": choose oauth or mcp`);
}
process.on(
  "unhandledRejection",
  (error) => fail(`A rejection that nobody handled: ${(error as Error)?.stack}`),
);
if (subject !== "mcp") await run("oauth", () => fuzzOAuth(count, Number(seed)));
if (subject !== "oauth") {
  const { measured } = await run("mcp", () => fuzzMcp(count, Number(seed), gc && measureHeap));
  for (const [sent, bytes] of measured) console.log(`  heap after ${sent}: ${megabytes(bytes)}`);
  const early = measured[Math.floor(measured.length / 5)];
  const growth = early ? measured.at(-1)![1] - early[1] : 0;
  if (growth > MOST_GROWTH) fail(`The heap grew by ${megabytes(growth)}`);
}

async function run<Findings extends { problems: string[]; answers: ReadonlyMap<string, number> }>(
  name: string,
  fuzz: () => Promise<Findings>,
): Promise<Findings> {
  const started = performance.now();
  const findings = await fuzz();
  const byStatus = new Map<string, number>();
  for (const [key, times] of findings.answers) {
    const status = key.split(" ").at(-1)!;
    byStatus.set(status, (byStatus.get(status) ?? 0) + times);
  }
  for (const problem of findings.problems) fail(problem);
  const told = [...byStatus].sort(([a], [b]) => Number(a) - Number(b)).map(([status, times]) =>
    `${status}: ${times}`
  ).join(", ");
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${name}: ${count} messages of seed ${seed} in ${seconds} s; ${told}`);
  console.log(`${findings.problems.length} problems`);
  return findings;
}

function measureHeap(): number {
  gc!();
  gc!();
  return process.memoryUsage().heapUsed;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function fail(problem: string): void {
  console.error(problem + "\n");
  process.exitCode = 1;
}
