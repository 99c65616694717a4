/**
 * The first part: handlers called in their own process, with few and with many tools. Each server is a process, so that
 * none runs code that another has made slow, nor collects its garbage; they take turns of a slice each.
 *
 * @module
 */
import { Running } from "./running.ts";
import { FLOOR, SUBJECTS, TRIVET } from "./subject.ts";
import { median, printReasons, printTable, quantile, short } from "./table.ts";
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
  /** The processor time of a call of the floor to that of this, in the same rounds. */
  readonly ratio?: number;
  readonly refused?: string;
}

/** @param sizes numbers of tools @param slice milliseconds of one server in one round */
export async function measureCalls(
  sizes: readonly number[],
  rounds: number,
  slice: number,
): Promise<CallResult[]> {
  const servers = SUBJECTS.map((subject) => new Running(subject, "calls", 0));
  const results: CallResult[] = [];
  try {
    await Promise.all(servers.map(({ ready }) => ready));
    // What operations share is compiled before the first of them is measured.
    for (const index of OPERATIONS.keys()) {
      await measureOne(servers, index, sizes[0]!, 1, slice);
    }
    for (const [index, { name }] of OPERATIONS.entries()) {
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
  for (const { operation, subject, refused } of results) {
    if (refused !== undefined && !subject.includes(", ")) {
      reasons.set(`${subject}: ${operation}`, refused);
    }
  }
  printReasons(reasons);
  return results;
}

async function measureOne(
  servers: readonly Running[],
  operation: number,
  tools: number,
  rounds: number,
  milliseconds: number,
): Promise<CallResult[]> {
  const rates = new Map<Running, number[]>();
  const costs = new Map<Running, number[]>();
  const times = new Map<Running, number[]>();
  const refused = new Map<Running, string>();
  // The first round is not counted: code is still being compiled.
  for (let round = -1; round < rounds; round++) {
    for (const server of servers) {
      if (refused.has(server)) continue;
      const { accept, newest, isFloor = false } = server.subject;
      const sliced = await server.slice({ operation, tools, accept, newest, isFloor, milliseconds });
      if ("refused" in sliced) refused.set(server, sliced.refused);
      else if (round >= 0) {
        rates.set(server, [...rates.get(server) ?? [], sliced.perSecond]);
        costs.set(server, [...costs.get(server) ?? [], sliced.cpu]);
        times.set(server, [...times.get(server) ?? [], ...sliced.times]);
      }
    }
  }
  const floor = costs.get(servers.find(({ subject }) => subject === FLOOR)!)!;
  return servers.map((server) => {
    const told = { operation: OPERATIONS[operation]!.name, tools, subject: server.subject.name };
    if (refused.has(server)) return { ...told, refused: refused.get(server)! };
    const own = costs.get(server)!;
    return {
      ...told,
      perSecond: median(rates.get(server)!),
      p50: quantile(times.get(server)!, 0.5) * 1000,
      p99: quantile(times.get(server)!, 0.99) * 1000,
      cpu: median(own),
      ratio: median(own.map((cost, round) => floor[round]! / cost)),
    };
  });
}

function printOperation(name: string, sizes: readonly number[], results: readonly CallResult[]): void {
  const rows = SUBJECTS.map(({ name: subject }) => [
    subject,
    ...results.filter((result) => result.subject === subject).flatMap(({ perSecond, cpu, ratio }) =>
      perSecond === undefined
        ? ["not offered", "", ""]
        : [short(perSecond), short(cpu!), ratio!.toFixed(ratio! < 0.1 ? 3 : 2)]
    ),
  ]);
  const heads = sizes.flatMap((size) => [
    `${size.toLocaleString("en")} tool${size > 1 ? "s" : ""} /s`,
    "cost us",
    "of floor",
  ]);
  printTable(`In process: ${name} ("cost" is processor time, "of floor" the floor's to it)`, heads, rows);
}

/** How much more processor time others take than Trivet. */
export function printCallSummary(results: readonly CallResult[], tools: number): void {
  const of = (subject: string, operation: string) =>
    results.find((result) =>
      result.subject === subject && result.operation === operation && result.tools === tools
    )?.cpu;
  const peers = SUBJECTS.filter((subject) => subject !== FLOOR && subject !== TRIVET);
  printTable(
    `In process, ${tools} tools: processor time of a call, to Trivet's`,
    peers.map(({ name }) => name.replace("JSON Schema", "JSON").replace("asked for JSON", "JSON")),
    OPERATIONS.map(({ name }) => [
      name,
      ...peers.map((peer) => {
        const own = of(TRIVET.name, name);
        const other = of(peer.name, name);
        return own === undefined || other === undefined ? "-" : `${short(other / own)}x`;
      }),
    ]),
  );
}
