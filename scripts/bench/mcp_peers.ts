/**
 * Trivet's tool server beside its peers, in one run: `npm run bench -- --mcp` (`--quick` for a shorter one, `--only` with
 * a part's name: in process, http, stdio, memory). The peers are packages of `scripts/bench/package.json`, to install
 * first: `npm install --prefix scripts/bench`. Each server is a process of its own; they take turns. Every kind of answer
 * is looked at whole before it is timed, arguments that do not fit must be refused, and each timed answer must have its
 * status, its id and its text.
 *
 * `sdk` is `@modelcontextprotocol/sdk`, `server` is `@modelcontextprotocol/server`. All have the same tools with the same
 * zod schemas, from one copy of zod; rows named JSON Schema give raw JSON Schema instead. (mcp-lite takes that too, but
 * then checks no arguments: it has no such row.)
 *
 * Ratios are of processor time, which what else the machine does changes less than rates: it is the whole process's, so
 * collecting garbage on other threads counts. Requests and answers are made and read in the same process in the first
 * part, and cost alike.
 *
 * What is not alike, and whom it favours:
 *
 * - Without a session, and always in revision 2026-07-28, `sdk` and `server` make a server with all its tools for each
 *   request, as their documentation tells and as `createMcpHandler` does by itself. In a session they make one for each
 *   session, which then answers quickly and takes its memory. Trivet, mcp-lite and tmcp make one in all. The tools of
 *   this comparison are registered by a loop over schemas that are there already; the row "schemas in factory" makes them
 *   where tools are registered, as documentation and users write it.
 * - Sessions of `sdk` and `server` are a Map, as users keep them who have one process; those of mcp-lite and tmcp are
 *   their adapters in memory. None of these outlives its process or is known to another one.
 * - Trivet answers JSON. `sdk` is told to, which is quicker than its default; `server` does by itself in revision
 *   2026-07-28, is told to in sessions, and without one answers event streams and cannot be told. tmcp always answers
 *   event streams, mcp-lite does to clients that follow the transport (to accept both types) and not to those that ask
 *   for JSON, which is not what MCP clients do: both are measured.
 * - mcp-lite and tmcp know no handshake newer than 2025-06-18, and speak that. mcp-lite has no stdio, and neither it nor
 *   `sdk` has revision 2026-07-28.
 * - Trivet guards Host and Origin, refuses large bodies and looks for an access token: all are on. The guards of the
 *   peers are off, their default; `sdk` and `server` bound bodies, mcp-lite and tmcp do not.
 * - `sdk`, `server` and tmcp parse messages, and what tools return, by schemas of the protocol; Trivet and mcp-lite look at
 *   what they use. No tool has an output schema.
 * - `sdk`, `server` and tmcp make the schemas of `tools/list` from zod for each answer; Trivet keeps the whole answer as
 *   text, which no change of tools at run time can afford. The answers hold what each derives: 22 to 30 kB of 41 tools.
 * - Over HTTP, Trivet is served by `trivet/node` (on srvx), the peers by `@hono/node-server`, which is at least as quick
 *   as what `sdk` and `server` bring for Node. The load is a process on the same machine: where it is what is slow, rates
 *   of quick servers come closer together than they are, while the processor time of the server (cost) does not.
 * - Nobody logs, and `NODE_ENV` is "production". Streams of `sdk` and `server` have a timer each for comments that keep
 *   them open. The limit of `server` to 1,024 subscriptions is raised.
 * - A start of Trivet loads its authorization server and its Skills service too, switched off or not, since `trivet` is
 *   one entry; the peers' load what serves MCP alone. It starts as published, built; from sources Node strips types.
 *
 * @module
 */
import { type CallResult, measureCalls, printCallSummary } from "./mcp_peers/in_process.ts";
import { measureMemory, type MemoryResult } from "./mcp_peers/memory.ts";
import { type HttpResult, measureHttp, type NetworkExtent } from "./mcp_peers/over_http.ts";
import { measureStdio, type StdioResult } from "./mcp_peers/over_stdio.ts";

export interface McpComparison {
  readonly inProcess: readonly CallResult[];
  readonly overHttp: readonly HttpResult[];
  readonly overStdio: readonly StdioResult[];
  readonly memory: readonly MemoryResult[];
}

/** The number of tools of a usual server: what the parts after the first are measured with. */
const USUAL = 41;
const SIZES = [1, USUAL, 100, 1000];

interface Extent {
  readonly sizes: readonly number[];
  readonly rounds: number;
  /** Milliseconds of one server in one round. */
  readonly slice: number;
  readonly network: NetworkExtent;
  readonly starts: number;
  /** Sessions, and streams. */
  readonly many: number;
}
const FULL: Extent = {
  sizes: SIZES,
  rounds: 5,
  slice: 50,
  network: { rounds: 5, slice: 120, lists: true },
  starts: 7,
  many: 10_000,
};
const QUICK: Extent = {
  sizes: [1, USUAL],
  rounds: 3,
  slice: 25,
  network: { rounds: 3, slice: 50, lists: false },
  starts: 3,
  many: 1000,
};
/** Milliseconds that filling one server with one kind may take. */
const MAX_FILL_MS = 20_000;

/** @param only the parts whose name holds this text */
export async function measureMcpPeers(isQuick: boolean, only = ""): Promise<McpComparison> {
  const { sizes, rounds, slice, network, starts, many } = isQuick ? QUICK : FULL;
  const run = async <T>(part: string, measure: () => Promise<T[]>): Promise<T[]> => {
    if (!part.includes(only)) return [];
    const started = performance.now();
    const results = await measure();
    console.log(`\n${part}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
    return results;
  };
  const inProcess = await run("in process", () => measureCalls(sizes, rounds, slice));
  const overHttp = await run("http", () => measureHttp(USUAL, network));
  const overStdio = await run("stdio", () => measureStdio(USUAL, network, starts));
  const memory = await run("memory", () => measureMemory(USUAL, many, MAX_FILL_MS));
  if (inProcess.length > 0) printCallSummary(inProcess, USUAL);
  return { inProcess, overHttp, overStdio, memory };
}
