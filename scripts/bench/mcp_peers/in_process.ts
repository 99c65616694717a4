/**
 * The first part: calls handlers in their own process, with few and with many tools. Each server is a process, so that
 * optimization and garbage of one server do not affect another. They run in turn, in random order, one slice each.
 *
 * @module
 */
import { toResults } from "../harness.ts";
import type { Interval } from "../measuring/statistics.ts";
import { runRounds, type Sample } from "../measuring/rounds.ts";
import { ServerProcess } from "./server_process.ts";
import { FLOOR, SUBJECTS, TRIVET } from "./subject.ts";
import { formatNumber, formatTimes, printReasons, printTable } from "./table.ts";
import { OPERATIONS } from "./wire.ts";

export interface CallResult {
  readonly operation: string;
  readonly tools: number;
  readonly subject: string;
  readonly perSecond?: number;
  /** Microseconds. */
  readonly p50?: number;
  readonly p99?: number;
  /** Microseconds of processor time of one call. */
  readonly cpu?: number;
  /** `cpu` in each round. */
  readonly costs?: readonly number[];
  /** The ratio of the processor time of the floor to that of this call, in the same rounds. */
  readonly ratio?: number;
  /** Contains the ratio with a probability of 95 %. */
  readonly interval?: Interval | undefined;
  /** Why the row is noisy. */
  readonly noise?: readonly string[];
  readonly unsupported?: string;
}

/**
 * @param sizes numbers of tools @param slice milliseconds of one server in one round
 * @param beginning of the names of the operations
 */
export async function measureCalls(
  sizes: readonly number[],
  rounds: number,
  slice: number,
  beginning = "",
): Promise<CallResult[]> {
  const servers = SUBJECTS.map((subject) => new ServerProcess(subject, "calls", 0));
  const results: CallResult[] = [];
  try {
    await Promise.all(servers.map(({ ready }) => ready));
    // Compiles code that operations share before the first of them is measured.
    const selected = [...OPERATIONS.entries()].filter(([, { name }]) => name.startsWith(beginning));
    for (const [index] of selected) {
      await measureOne(servers, index, sizes[0]!, 1, slice);
    }
    for (const [index, { name }] of selected) {
      const own: CallResult[] = [];
      for (const tools of sizes) {
        own.push(...await measureOne(servers, index, tools, rounds, slice));
      }
      printOperation(name, sizes, own);
      results.push(...own);
    }
  } finally {
    for (const server of servers) server.stop();
  }
  const reasons = new Map<string, string>();
  for (const { operation, subject, unsupported } of results) {
    if (unsupported !== undefined && !subject.includes(", ")) {
      reasons.set(`${subject}: ${operation}`, unsupported);
    }
  }
  printReasons(reasons);
  return results;
}

async function measureOne(
  servers: readonly ServerProcess[],
  operation: number,
  tools: number,
  rounds: number,
  milliseconds: number,
): Promise<CallResult[]> {
  const unsupported = new Map<string, string>();
  const runners = servers.map((server) => ({
    name: server.subject.name,
    async run(): Promise<Sample | undefined> {
      const { name, accept, latest, isFloor = false } = server.subject;
      const result = await server.slice({ operation, tools, accept, latest, isFloor, milliseconds });
      if (!("unsupported" in result)) return result;
      unsupported.set(name, result.unsupported);
    },
  }));
  const series = await runRounds(runners, rounds);
  const subjects = SUBJECTS.map(({ name }) => ({
    name,
    ...(name !== FLOOR.name && { baseline: FLOOR.name }),
  }));
  const results = new Map(
    toResults(subjects, series).map((result) => [result.name, result]),
  );
  return SUBJECTS.map(({ name: subject }) => {
    const row = { operation: OPERATIONS[operation]!.name, tools, subject };
    const result = results.get(subject);
    if (result === undefined) {
      return { ...row, unsupported: unsupported.get(subject)! };
    }
    const { perSecond, p50, p99, cpu, costs, processor, noise } = result;
    return {
      ...row,
      perSecond,
      p50,
      p99,
      ...(cpu !== undefined && { cpu, costs }),
      ratio: processor?.ratio ?? 1,
      interval: processor?.interval,
      noise: processor?.noise ?? noise,
    };
  });
}

function printOperation(
  name: string,
  sizes: readonly number[],
  results: readonly CallResult[],
): void {
  const rows = SUBJECTS.map(({ name: subject }) => [
    subject,
    ...results.filter((result) => result.subject === subject).flatMap((
      { perSecond, cpu, ratio },
    ) =>
      perSecond === undefined ? ["not supported", "", ""] : [
        formatNumber(perSecond),
        formatNumber(cpu!),
        ratio!.toFixed(ratio! < 0.1 ? 3 : 2),
      ]
    ),
  ]);
  const heads = sizes.flatMap((size) => [
    `${size.toLocaleString("en")} tool${size > 1 ? "s" : ""} /s`,
    "cost us",
    "of floor",
  ]);
  printTable(
    `In process: ${name} ("cost" is processor time, "of floor" the ratio of the floor's cost to it)`,
    heads,
    rows,
  );
}

/** Prints the ratio of the processor time of each peer to that of Trivet. */
export function printCallSummary(
  results: readonly CallResult[],
  tools: number,
): void {
  const findCosts = (subject: string, operation: string) =>
    results.find((result) =>
      result.subject === subject && result.operation === operation &&
      result.tools === tools
    )?.costs;
  const peers = SUBJECTS.filter((subject) => subject !== FLOOR && subject !== TRIVET);
  printTable(
    `In process, ${tools} tools: ratio of the processor time of a call to Trivet's, median of the rounds`,
    peers.map(({ name }) => name.replace("JSON Schema", "JSON").replace("JSON responses", "JSON")),
    OPERATIONS.filter(({ name }) => results.some(({ operation }) => operation === name)).map(({ name }) => [
      name,
      ...peers.map((peer) => formatTimes(findCosts(peer.name, name), findCosts(TRIVET.name, name)) || "-"),
    ]),
  );
}
