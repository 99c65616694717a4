/**
 * `npm run bench -- --mcp`: compares Trivet's tool server with its peers in one run (`--quick` for a shorter one, `--only`
 * with the name of a part: in process, http, stdio, memory; in process also with the beginning of an operation, as in
 * "in process: initialize", and with `--scale N` for N tools alone). The peers are packages of `scripts/bench/package.json`; install
 * them first: `npm ci --prefix scripts/bench`. Each server is a process; they run in turn. Each kind of response is
 * checked completely before it is timed, invalid arguments must be refused, and each timed response must have the expected
 * status, id and text.
 *
 * `sdk` is `@modelcontextprotocol/sdk`, `server` is `@modelcontextprotocol/server`. All servers have the same tools with the
 * same zod schemas, from one copy of zod; in rows named JSON Schema they get raw JSON Schema instead. (mcp-lite has no such
 * row: it accepts JSON Schema, but does not validate arguments by it.)
 *
 * The floor in process gets the same requests as the servers (header fields and length), so that its cost contains all of
 * making a request and reading a response; it neither reads its request nor writes JSON of its own. What a server must do
 * beside it shows in the row of the bare switch.
 *
 * Ratios are of processor time, which other load on the machine affects less than rates. It includes the whole process, so
 * also garbage collection on other threads. In the first part requests and responses are made and read in the same process,
 * at the same cost for all servers.
 *
 * Differences between the servers:
 *
 * - Without a session, and always in revision 2026-07-28, `sdk` and `server` create a server with all its tools for each
 *   request, as their documentation recommends and as `createMcpHandler` does. In a session they create one for each
 *   session, which then responds fast and uses memory. Trivet, mcp-lite and tmcp create one server in all. The tools are
 *   registered in a loop over existing schemas; in the row "schemas in factory" the schemas are created where tools are
 *   registered, as documentation and users do.
 * - In rows without a session Trivet has the option `sessions: false`, as mcp-lite has no session adapter there. tmcp opens
 *   one with each `initialize`.
 * - Sessions of `sdk` and `server` are stored in a Map, as users with one process do; those of mcp-lite and tmcp in their
 *   memory adapters. None of these sessions survives its process or works in another one.
 * - Trivet responds with JSON. `sdk` is configured to do so, which is faster than its default; `server` does so in revision
 *   2026-07-28, is configured to do so in sessions, and without a session always sends event streams. tmcp always sends
 *   event streams. mcp-lite sends them to clients that accept both types, as the transport requires, and JSON to clients
 *   that accept only JSON: both are measured.
 * - fastmcp has no handler on Node, only a listener of its own, which is measured over HTTP; in process its variant for edge
 *   runtimes is, which has no sessions. Its handshake takes a second, because it waits for the client's capabilities; only
 *   calls after it are measured. It creates a session with all tools for each request, or for each session.
 * - mcp-lite and tmcp support handshakes up to 2025-06-18. mcp-lite has no stdio, and neither mcp-lite nor `sdk` supports
 *   revision 2026-07-28.
 * - Trivet checks Host and Origin, limits bodies and reads access tokens: all are on. The checks of the peers are off by
 *   default; `sdk` and `server` limit bodies, mcp-lite and tmcp do not.
 * - `sdk`, `server` and tmcp validate messages and tool results by schemas of the protocol; Trivet and mcp-lite check the
 *   members that they use. No tool has an output schema.
 * - `sdk`, `server` and tmcp derive the schemas of `tools/list` from zod for each response; Trivet caches the response as
 *   text until the tools change. The responses contain what each server derives: 22 to 30 kB for 41 tools.
 * - Over HTTP, Trivet runs on `trivet/node` (srvx), the peers on `@hono/node-server`, which is at least as fast as the
 *   adapters of `sdk` and `server`. The load generator is a process on the same machine: where it is the bottleneck, the
 *   rates of fast servers differ less than the servers do, but their processor time (cost) does not.
 * - Logging is off, and `NODE_ENV` is "production". Each stream of `sdk` and `server` has a timer for keep-alive comments.
 *   The limit of `server` of 1,024 subscriptions is raised.
 * - Trivet also loads its authorization server and Skills service at start, because `trivet` is one entry; the peers load
 *   only an MCP server. Starts are those of the built package: `trivet stdio` with a file of tools, which also opens its
 *   store, and a server of one's own; from sources Node also strips types.
 *
 * @module
 */
import { type CallResult, measureCalls, printCallSummary } from "./mcp_peers/in_process.ts";
import { measureMemory, type MemoryResult } from "./mcp_peers/memory.ts";
import { addMcpTables } from "./reporting/mcp_tables.ts";
import { type HttpResult, measureHttp, type NetworkSize } from "./mcp_peers/over_http.ts";
import { measureStdio, type StdioResult } from "./mcp_peers/over_stdio.ts";

export interface McpComparison {
  readonly inProcess: readonly CallResult[];
  readonly overHttp: readonly HttpResult[];
  readonly overStdio: readonly StdioResult[];
  readonly memory: readonly MemoryResult[];
}

/** The number of tools of a usual server. All parts after the first one use it. */
const USUAL_TOOLS = 41;
const SIZES = [1, USUAL_TOOLS, 100, 1000];

interface BenchSize {
  readonly sizes: readonly number[];
  readonly rounds: number;
  /** Milliseconds of one server in one round. */
  readonly slice: number;
  readonly network: NetworkSize;
  readonly starts: number;
  /** The number of sessions, and of streams. */
  readonly connections: number;
}
const FULL: BenchSize = {
  sizes: SIZES,
  rounds: 15,
  // Shorter slices are steady before all is compiled: a call then cost 5 to 10 % more, of the larger servers only.
  slice: 100,
  network: { rounds: 15, slice: 100, lists: true },
  starts: 15,
  connections: 10_000,
};
const QUICK: BenchSize = {
  sizes: [1, USUAL_TOOLS],
  rounds: 6,
  slice: 15,
  network: { rounds: 6, slice: 30, lists: false },
  starts: 3,
  connections: 1000,
};
/** Timeout for opening all sessions or streams of one server. */
const MAX_FILL_MS = 20_000;

/**
 * @param given the number of rounds and the milliseconds of one server in one of them, instead of those of the parts
 * @param only runs the parts whose name contains this text up to a colon, and of the operations in process those whose
 * name begins with what follows it
 * @param count the only number of tools in process
 */
export async function measureMcpPeers(
  isQuick: boolean,
  given: Partial<Pick<NetworkSize, "rounds" | "slice">>,
  only = "",
  count?: number,
): Promise<McpComparison> {
  const size = isQuick ? QUICK : FULL;
  const { sizes: all, rounds, slice, starts, connections } = { ...size, ...given };
  const network = { ...size.network, ...given };
  const sizes = count === undefined ? all : [count];
  const [wanted = "", operation = ""] = only.split(/: */);
  const run = async <T>(part: string, measure: () => Promise<T[]>): Promise<T[]> => {
    if (!part.includes(wanted)) return [];
    const started = performance.now();
    const results = await measure();
    console.log(`\n${part}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
    return results;
  };
  const inProcess = await run("in process", () => measureCalls(sizes, rounds, slice, operation));
  const overHttp = await run("http", () => measureHttp(USUAL_TOOLS, network));
  const overStdio = await run("stdio", () => measureStdio(USUAL_TOOLS, network, starts));
  const memory = await run("memory", () => measureMemory(USUAL_TOOLS, connections, MAX_FILL_MS));
  addMcpTables(inProcess, overHttp, overStdio, memory);
  if (inProcess.length > 0) printCallSummary(inProcess, count ?? USUAL_TOOLS);
  return { inProcess, overHttp, overStdio, memory };
}
