/**
 * Measures what logs, the audit trail and metrics cost a server on SQLite, over HTTP, compared with the same server with
 * all of them off; and the lines and bytes that they write for each call.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningTrivet, startTrivet, temporaryFolder } from "../../src/end_to_end/test_process.ts";
import { readAuditGroups } from "../../src/observability/read_audit.ts";
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import { type Load, openLoad } from "./http_load.ts";
import { measure, printResults, type Result, type Subject } from "./harness.ts";
import { readProcessorTime } from "./measuring/process_time.ts";

const CONNECTIONS = 16;
/** Each with its arguments. The first is what the others are compared with. */
const MODES: readonly (readonly [string, readonly string[]])[] = [
  ["all off", ["--audit", "off", "--log-level", "error"]],
  ["logs", ["--audit", "off"]],
  ["audit", ["--log-level", "error"]],
  ["metrics", [
    "--audit",
    "off",
    "--log-level",
    "error",
    "--metrics-port",
    "0",
  ]],
  ["logs, audit, metrics", ["--metrics-port", "0"]],
];
const VOLUME_CALLS = 500;
type Post = Parameters<Load["post"]>;

const TOOLS = `import { tool } from ${JSON.stringify(new URL("../../src/mod.ts", import.meta.url).href)};
export default tool({ name: "add", description: "adds", input: { type: "object" }, run: () => "3" });
`;

/** Of the rate without observers (`--observers`). */
const TARGET = 0.9;

export async function measureObservers(
  rounds: number,
  slice: number,
): Promise<Result[]> {
  const cleanups: (() => unknown)[] = [];
  try {
    const subjects: Subject[] = [];
    for (const [mode, args] of MODES) {
      subjects.push(...await startSubjects(mode, args, cleanups));
    }
    const results = await measure(subjects, rounds, slice);
    printResults(
      `Over HTTP on Node, ${CONNECTIONS} connections, SQLite`,
      results,
    );
    await printVolume();
    return results;
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

async function startSubjects(
  mode: string,
  args: readonly string[],
  cleanups: (() => unknown)[],
): Promise<Subject[]> {
  const folder = temporaryFolder();
  const server = await startServer(folder.path, args);
  cleanups.push(() => folder.remove(), () => server.stop());
  const { token, call } = requestsTo(server);
  const load = openLoad(server.facts.url, CONNECTIONS);
  cleanups.push(() => load.close());
  const isBaseline = mode === MODES[0]![0];
  const subject = (kind: string, request: Post): Subject => ({
    name: `${kind}: ${mode}`,
    concurrency: CONNECTIONS,
    ...(!isBaseline &&
      { baseline: `${kind}: ${MODES[0]![0]}`, target: TARGET }),
    processorTime: () => Promise.resolve(readProcessorTime(server.child.pid!)),
    prepare: async () => () => load.post(...request),
  });
  return [
    subject("token endpoint", token),
    subject("tools/call", call),
  ];
}

function startServer(
  folder: string,
  args: readonly string[],
): Promise<RunningTrivet> {
  const tools = join(folder, "tools.mjs");
  writeFileSync(tools, TOOLS);
  return startTrivet([
    tools,
    "--data",
    folder,
    "--demo",
    "--mcp-auth",
    "off",
    ...args,
  ]);
}

/** The requests that are measured. */
function requestsTo(
  { facts: { client: { id, secret } } }: RunningTrivet,
): { token: Post; call: Post } {
  const grant = `grant_type=client_credentials&client_id=${id}&client_secret=${secret}&scope=read`;
  const call = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "add", arguments: {} },
  });
  return {
    token: ["/oauth/token", grant, "application/x-www-form-urlencoded"],
    call: ["/mcp", call, "application/json"],
  };
}

/** Until lines and records that were caused are written. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 300));

/** Prints what one token and one call of a tool write to the log and to the audit trail. */
async function printVolume(): Promise<void> {
  const folder = temporaryFolder();
  const server = await startServer(folder.path, ["--log-requests"]);
  const load = openLoad(server.facts.url, CONNECTIONS);
  const log = { before: server.stderr().length, tokens: 0, calls: 0 };
  const { token, call } = requestsTo(server);
  for (let i = 0; i < VOLUME_CALLS; i++) await load.post(...token);
  await pause();
  log.tokens = server.stderr().length;
  for (let i = 0; i < VOLUME_CALLS; i++) await load.post(...call);
  await pause();
  log.calls = server.stderr().length;
  await load.close();
  await server.stop();
  const store = sqliteStore(join(folder.path, "trivet.db"));
  const bytes = { token_issued: 0, tool_called: 0 };
  for await (const text of readAuditGroups(store)) {
    for (const line of text.split("\n").slice(1)) {
      const type = JSON.parse(line).type as keyof typeof bytes;
      if (type in bytes) bytes[type] += line.length + 1;
    }
  }
  await store.close();
  folder.remove();
  const each = (total: number) => Math.round(total / VOLUME_CALLS);
  console.log(`
Bytes per request          log, with --log-requests    audit trail
token endpoint             ${String(each(log.tokens - log.before)).padEnd(28)}${each(bytes.token_issued)}
tools/call                 ${String(each(log.calls - log.tokens)).padEnd(28)}${each(bytes.tool_called)}`);
}
