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

/** The short run and all the rest; `all` is both. */
export type Part = "short" | "rest" | "all";

/** Process tests outside `src/end_to_end` that start servers, engines or builds. */
const LONG =
  /^(src\/end_to_end\/|scripts\/|conformance\/(targets|learn|mutants)\/|src\/store\/drivers\/|src\/oauth\/engines|src\/mcp\/instances\/)/;
/** Short ones among them. */
const SHORT =
  /^(conformance\/targets\/trivet_node_test|scripts\/check_imports_node_test|src\/end_to_end\/cli\/cli_node_test)/;
/** What measures processor time or memory, which neighbours disturb. */
const ALONE = /(memory|loop_hold|request_budget|work_slice|recovery|crash|_load)\w*_test\.ts$/;

export function needsProcess(file: string): boolean {
  return file.endsWith("_node_test.ts");
}

export function runsAlone(file: string): boolean {
  return ALONE.test(file);
}

/** Whether this part of the tests has the file on this runtime. */
export function isSelected(file: string, runtime: Runtime, part: Part): boolean {
  if (needsProcess(file) && runtime === "workerd") return false;
  if (part === "all") return true;
  return isShort(file, runtime) === (part === "short");
}

function isShort(file: string, runtime: Runtime): boolean {
  if (!needsProcess(file)) return true;
  return runtime === "node" && (!LONG.test(file) || SHORT.test(file));
}
