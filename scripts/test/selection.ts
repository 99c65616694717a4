/**
 * Which test files run where, and when: `npm test` runs the short ones, `npm run test:all` all.
 *
 * - A portable file runs on Node, Deno, Bun and workerd.
 * - A file `*_node_test.ts` needs a file system or a process: not on workerd, and in the short run on Node alone.
 * - A long file (engines, other clients, whole processes) is left out of the short run.
 * - A file that measures time or memory runs alone, when nothing else does.
 *
 * @module
 */

export const RUNTIMES = ["node", "deno", "bun", "workerd"] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** Seconds that files took when they were measured, where it is a second or more. */
export type Times = Readonly<Record<string, number>>;

/** The short run and all the rest; `all` is both. */
export type Part = "short" | "rest" | "all";

/** Process tests that start servers, engines, browsers, clients of others or builds. */
const LONG =
  /^(src\/end_to_end\/|scripts\/(faults|cluster|bundle)|conformance\/(targets|learn|mutants)\/|src\/store\/drivers\/|src\/oauth\/engines|src\/mcp\/instances\/)/;
/** One pass of the kit. */
const SHORT = /^conformance\/targets\/trivet_memory_node_test/;
/** A process test that takes longer is no short one. */
const MAX_SHORT_SECONDS = 4;
/** What measures processor time or memory, which neighbours disturb. */
const ALONE = /(memory|loop_hold|request_budget|work_slice|recovery|crash|_load|heavy|fuzz)\w*_test\.ts$/;

export function needsProcess(file: string): boolean {
  return file.endsWith("_node_test.ts");
}

export function runsAlone(file: string): boolean {
  return ALONE.test(file);
}

/** Whether this part of the tests has the file on this runtime. */
export function isSelected(file: string, runtime: Runtime, part: Part, times: Times): boolean {
  if (needsProcess(file) && runtime === "workerd") return false;
  if (part === "all") return true;
  return isShort(file, runtime, times) === (part === "short");
}

function isShort(file: string, runtime: Runtime, times: Times): boolean {
  if (!needsProcess(file)) return true;
  if (runtime !== "node") return false;
  return SHORT.test(file) || !LONG.test(file) && (times[file] ?? 0) <= MAX_SHORT_SECONDS;
}
