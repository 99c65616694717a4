/**
 * Selects which test files run on which runtime and in which part: `npm test` runs the short part, `npm run test:all` all.
 *
 * - A portable file runs on Node, Deno, Bun and workerd. One that takes long, or runs alone, is in the short part on Node
 *   only, and in the rest on the other runtimes.
 * - A file `*_node_test.ts` needs a file system or processes: it does not run on workerd, and in the short part only on
 *   Node.
 * - A process test whose subject does not depend on the runtime that runs it runs on Node only ({@linkcode NODE_ONLY}).
 * - A long file (engines, other clients, whole processes) is in the part `rest`.
 * - A file that measures time or memory, or disturbs an engine that others use, runs alone, after all others.
 *
 * @module
 */

export const RUNTIMES = ["node", "deno", "bun", "workerd"] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** Measured seconds of each file that takes a second or more. */
export type Times = Readonly<Record<string, number>>;

/** `short` is `npm test`, `rest` contains the other files, `all` is both. */
export type Part = "short" | "rest" | "all";

/** Process tests that start servers, engines, browsers, other clients or builds. */
const LONG =
  /^(examples\/|src\/end_to_end\/|scripts\/(faults|cluster|bundle|guides|bench\/regression)|conformance\/(targets|runners|learn|mutants)\/|src\/store\/drivers\/|src\/(oauth|rate_limits)\/engines|src\/store\/upgrade\/upgrade_engines|src\/mcp\/instances\/)/;
/** Process tests that run on Node only, and why. The summary lists them. */
export const NODE_ONLY: readonly { readonly files: RegExp; readonly reason: string }[] = [
  {
    files: /^src\/end_to_end\/oauth\/browser_/,
    reason: "playwright runs on Node; the pages are the same on every runtime",
  },
  {
    files: /^src\/end_to_end\/oauth\/(python_clients|openid_packaged_clients)_/,
    reason: "the clients are other programs; entries and clients in JavaScript are tested on every runtime",
  },
  {
    files: /^conformance\/targets\/trivet_engines_/,
    reason:
      "the kit passes on every runtime over the memory store, and the drivers are tested on every runtime",
  },
  {
    files: /^scripts\/faults\/recovery_/,
    reason: "the time until a driver is back is measured once; the faults are tested on every runtime",
  },
  {
    files: /^src\/end_to_end\/cli\/cli_rotate_/,
    reason: "servers read keys again after a minute, which is the same on every runtime",
  },
  {
    files:
      /^(conformance\/targets\/trivet_(d1|workerd)|examples\/cloudflare\/|src\/store\/drivers\/cloudflare|src\/end_to_end\/\w+\/(\w+_)?workerd_node)/,
    reason: "the server under test runs on workerd, which Node starts",
  },
  {
    files: /^src\/runtime\/node\/(detached_response|event_pipe|parser_request)_/,
    reason:
      "the subject is how the entry of Node reads and writes; the other runtimes have entries of their own",
  },
  {
    files:
      /^(conformance\/(mutants|runners)\/|conformance\/targets\/(by_hand|trivet_coverage)_|scripts\/targets\/)/,
    reason:
      "the subject is the vectors and results of the conformance kit, whose runner is tested on every runtime",
  },
  {
    files: /^(examples\/(docker|lambda|kubernetes)\/|scripts\/(bundle|check_imports|guides|release))/,
    reason: "builds, guides and deployments run on Node",
  },
  {
    files: /^scripts\/bench\//,
    reason: "benchmarks run on Node",
  },
];
/** One run of the conformance kit. */
const SHORT = /^conformance\/targets\/trivet_memory_node_test/;
/** Process tests that take longer are not short. */
const MAX_PROCESS_SECONDS = 4;
/** Portable tests that take longer are short on Node only. */
const MAX_PORTABLE_SECONDS = 1;
/**
 * Files that measure processor time or memory, which other processes would affect, or that interrupt an engine or a
 * connection that others use.
 */
const ALONE =
  /(memory|loop_hold|request_budget|work_slice|recovery|crash|_load|heavy)\w*_test\.ts$|^scripts\/(faults|cluster|bench\/regression)\/\w+_test\.ts$|^src\/store\/drivers\/(postgres|redis)[\w/]*_node_test\.ts$/;
/** Files about the memory store or stored consent, which measure nothing. */
const NOT_ALONE = /\/(consent_memory|trivet_memory_node|drivers\/memory)_test\.ts$/;

export function needsProcess(file: string): boolean {
  return file.endsWith("_node_test.ts");
}

export function runsAlone(file: string): boolean {
  return ALONE.test(file) && !NOT_ALONE.test(file);
}

/** Why a file runs only on Node; `undefined` for one that runs on every runtime. */
export function findNodeOnlyReason(file: string): string | undefined {
  return needsProcess(file) ? NODE_ONLY.find(({ files }) => files.test(file))?.reason : undefined;
}

/** Whether the file runs on this runtime in this part. */
export function isSelected(file: string, runtime: Runtime, part: Part, times: Times): boolean {
  if (needsProcess(file) && runtime === "workerd") return false;
  if (runtime !== "node" && findNodeOnlyReason(file) !== undefined) return false;
  if (part === "all") return true;
  return isShort(file, runtime, times) === (part === "short");
}

function isShort(file: string, runtime: Runtime, times: Times): boolean {
  const seconds = times[file] ?? 0;
  if (!needsProcess(file)) return runtime === "node" || !runsAlone(file) && seconds <= MAX_PORTABLE_SECONDS;
  if (runtime !== "node") return false;
  return SHORT.test(file) || !LONG.test(file) && seconds <= MAX_PROCESS_SECONDS;
}
