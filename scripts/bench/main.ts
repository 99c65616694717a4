/**
 * `npm run bench`: prints benchmarks as tables, and writes them as JSON to `bench.json` or to `--json FILE`, and as one
 * HTML page beside it.
 *
 * @module
 */
import { availableParallelism } from "node:os";
import process from "node:process";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { printCosts } from "./costs.ts";
import { measureOverhead } from "./gateway/overhead.ts";
import { measureGatewayPeers } from "./gateway/peers.ts";
import { measure, printResults, type Subject } from "./harness.ts";
import { createInProcessSubjects } from "./in_process.ts";
import { startHttpSubjects } from "./over_http.ts";
import { measureMcpPeers } from "./mcp_peers.ts";
import { measureObservers } from "./observers.ts";
import { measurePeers } from "./peers.ts";
import { printExplanations, writeReport } from "./reporting/report.ts";
import { measureInstances } from "./scale/instances.ts";
import { measureOpenStreams } from "./scale/open_streams.ts";
import { measureSizes } from "./scale/sizes.ts";
import { measureSkills } from "./skills.ts";
import { measureStores } from "./stores.ts";
import { measureTelemetry } from "./telemetry.ts";
import { measureStoresOverHttp } from "./stores_over_http.ts";

const USAGE = `npm run bench -- [MODE] [--only TEXT] [--rounds N] [--slice MS] [--json FILE] [--explain]

Without a mode: the hot paths, in process and over HTTP. --only selects rows by their names. --explain prints what
each row does and leaves out, and why a row is noisy.

  --peers [--scale 1000000]   the authorization server and its peers; first: npm ci --prefix scripts/bench
  --mcp [--quick]             the tool server and its peers; --only "in process", http, stdio or memory, or
                              "in process: tools/call"; --scale 41 for so many tools alone
  --gateway [--peers]         the gateway
  --skills [--scale 100000]   uploads and lists of skills; --only "SQLite, 64 files"
  --stores [--scale 1000000]  the drivers, and the server on each; --only Redis
  --sizes [--scale 1000000]   each call with 1 to so many records; --only PostgreSQL
  --streams [--scale 10000]   idle streams
  --instances                 three instances on one engine; --only PostgreSQL
  --costs                     reads and commits of each request
  --observers, --telemetry    what observers and telemetry add
`;

const { values } = readArguments({
  options: {
    help: { type: "boolean", short: "h" },
    only: { type: "string" },
    rounds: { type: "string" },
    slice: { type: "string" },
    scale: { type: "string" },
    json: { type: "string", default: "bench.json" },
    stores: { type: "boolean" },
    costs: { type: "boolean" },
    observers: { type: "boolean" },
    telemetry: { type: "boolean" },
    peers: { type: "boolean" },
    mcp: { type: "boolean" },
    gateway: { type: "boolean" },
    skills: { type: "boolean" },
    sizes: { type: "boolean" },
    streams: { type: "boolean" },
    instances: { type: "boolean" },
    quick: { type: "boolean", default: false },
    explain: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}
// The peers are other processes and need longer slices.
const rounds = Number(values.rounds ?? (values.peers ? 10 : 15));
const slice = Number(
  values.slice ?? (values.peers || values.observers ? 500 : 150),
);

const isScaled = values.scale !== undefined;
const size = Number(values.scale ?? 100_000);

/** What each option measures: the values of its report. The costs are counts, which need no report. */
const MODES = {
  mcp: async () => ({
    mcp: await measureMcpPeers(
      values.quick,
      { ...(values.rounds && { rounds }), ...(values.slice && { slice }) },
      values.only,
      isScaled ? size : undefined,
    ),
  }),
  costs: async () => void await printCosts(),
  observers: async () => ({ observers: await measureObservers(rounds, slice) }),
  telemetry: async () => ({ telemetry: await measureTelemetry(rounds, slice) }),
  gateway: async () => ({
    ...(!values.peers && { gateway: await measureOverhead(rounds, slice) }),
    gatewayPeers: await measureGatewayPeers(rounds, slice),
  }),
  sizes: async () => ({ sizes: await measureSizes(rounds, slice, size, values.only) }),
  streams: async () => ({ streams: await measureOpenStreams(Math.min(size, 10_000)) }),
  instances: async () => ({ instances: await measureInstances(1000, values.only) }),
  skills: async () => ({
    skills: await measureSkills(rounds, slice, size, values.only),
  }),
  peers: async () => ({
    peers: await measurePeers(rounds, slice, size, values.only),
  }),
  stores: measureAllStores,
};

/** Selects the subjects of `--only`, and those that they are compared with. */
function select(subjects: readonly Subject[]): Subject[] {
  const { only } = values;
  if (only === undefined) return [...subjects];
  const selected = subjects.filter(({ name }) => name.includes(only));
  return subjects.filter((subject) =>
    selected.includes(subject) ||
    selected.some(({ baseline }) => baseline === subject.name)
  );
}

const [mode] = Object.keys(MODES).filter((name) => values[name as keyof typeof MODES]);
console.log(
  values.mcp
    ? `${process.version} on ${availableParallelism()} cores; servers in interleaved rounds`
    : `${process.version} on ${availableParallelism()} cores; ${rounds} rounds of ${slice} ms per subject, interleaved`,
);
const measured = await (mode === undefined ? measureHotPaths() : MODES[mode as keyof typeof MODES]());
if (values.explain) printExplanations();
if (measured !== undefined) {
  writeReport(values.json, {
    ...(!values.mcp && { rounds, slice }),
    ...measured,
  });
}
process.exit();

/** Parses the arguments. Wrong ones end the process, with the usage. */
function readArguments<const Options extends ParseArgsConfig>(options: Options) {
  try {
    return parseArgs(options);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** Measures the handler in this process and over HTTP. */
async function measureHotPaths() {
  const inProcess = await measure(
    select(createInProcessSubjects(size)),
    rounds,
    slice,
  );
  printResults("In process", inProcess);
  const http = await startHttpSubjects();
  try {
    const overHttp = await measure(select(http.subjects), rounds, slice);
    printResults("Over HTTP on Node, 16 connections", overHttp);
    return { inProcess, overHttp };
  } finally {
    await http.stop();
  }
}

/** Measures the drivers with more and more records, and then the server on each. */
async function measureAllStores() {
  const sizes = [1000, 100_000, 1_000_000].filter((each) => each <= size);
  const stores = await measureStores(sizes, rounds, slice, values.only);
  return { stores, overHttp: await measureStoresOverHttp(rounds, slice, values.only) };
}
