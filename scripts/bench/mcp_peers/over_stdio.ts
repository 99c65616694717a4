/**
 * The third part: servers over standard input and output, one line for each message, and the time from the start of a
 * server to its first response.
 *
 * @module
 */
import { measure, type Result } from "../harness.ts";
import type { NetworkSize } from "./over_http.ts";
import { ServerProcess } from "./server_process.ts";
import { type Method, StdioClient } from "./stdio/client.ts";
import { measureStarts, PUBLISHED } from "./stdio/starts.ts";
import { FLOOR, type Subject, SUBJECTS, TRIVET } from "./subject.ts";
import { formatNumber, formatTimes, printReasons, printTable } from "./table.ts";
import { LEGACY, META, MODERN, toExpectedText, toParams, Unsupported } from "./wire.ts";

export interface StdioResult {
  readonly operation: string;
  readonly subject: string;
  readonly inFlight?: number;
  readonly result?: Omit<Result, "name">;
  /** From the start of the process to the first response. */
  readonly milliseconds?: number;
  /** The fastest start: other load on the machine affects it least. */
  readonly least?: number;
  /** From the start of the process to the response to `tools/list`. */
  readonly listed?: number;
  /** Microseconds of processor time of a start. */
  readonly cpu?: number;
  readonly unsupported?: string;
}

const ROWS: readonly {
  readonly revision: string;
  readonly method: Method;
  readonly inFlight: number;
}[] = [
  { revision: LEGACY, method: "tools/call", inFlight: 1 },
  { revision: LEGACY, method: "tools/call", inFlight: 64 },
  { revision: LEGACY, method: "tools/list", inFlight: 1 },
  { revision: MODERN, method: "tools/call", inFlight: 1 },
  { revision: MODERN, method: "tools/call", inFlight: 64 },
  { revision: MODERN, method: "tools/list", inFlight: 1 },
];

/** @param starts the number of starts of each server, of which the median is printed */
export async function measureStdio(
  tools: number,
  size: NetworkSize,
  starts: number,
): Promise<StdioResult[]> {
  const subjects = SUBJECTS.filter(({ only, accept }) => only === undefined && accept === undefined);
  const reasons = new Map<string, string>();
  const results: StdioResult[] = [];
  for (const row of ROWS) {
    if (row.method === "tools/list" && !size.lists) continue;
    const own = await measureOne(subjects, row, tools, size);
    const name = `${row.method}, ${row.revision}`;
    results.push(...own);
    for (const { subject, unsupported } of own) {
      if (unsupported !== undefined) {
        reasons.set(`${subject}, ${name}`, unsupported);
      }
    }
    const trivet = own.find(({ subject }) => subject === TRIVET.name)?.result;
    printTable(
      `Over stdio, ${tools} tools: ${name}, ${row.inFlight} in flight`,
      ["per second", "p50 us", "p99 us", "of floor", "cost us", "to Trivet"],
      own.map(({ subject, result }) =>
        result === undefined ? [subject, "not supported"] : [
          subject,
          formatNumber(result.perSecond),
          formatNumber(result.p50),
          formatNumber(result.p99),
          result.ratio?.toFixed(2) ?? "",
          formatNumber(result.cpu ?? 0),
          formatTimes(result.costs, trivet?.costs),
        ]
      ),
    );
  }
  const started = await measureStarts(subjects, tools, starts);
  const own = started.find(({ subject }) => subject === PUBLISHED)?.cpu ??
    started.find(({ subject }) => subject === TRIVET.name)?.cpu;
  printTable(
    `Start over stdio, ${tools} tools, until the responses to initialize and tools/list: median of ${starts}`,
    ["ms", "least ms", "listed ms", "cost ms", "to Trivet"],
    started.map(({ subject, milliseconds, least, listed, cpu }) =>
      milliseconds === undefined ? [subject, "not supported"] : [
        subject,
        formatNumber(milliseconds),
        formatNumber(least!),
        formatNumber(listed!),
        formatNumber(cpu! / 1000),
        own === undefined ? "" : `${formatNumber(cpu! / own)}x`,
      ]
    ),
  );
  printReasons(reasons);
  return [...results, ...started];
}

async function measureOne(
  subjects: readonly Subject[],
  { revision, method, inFlight }: typeof ROWS[number],
  tools: number,
  { rounds, slice }: NetworkSize,
): Promise<StdioResult[]> {
  const unsupported = new Map<string, string>();
  const clients = new Map<string, StdioClient>();
  try {
    for (const subject of subjects) {
      const client = new StdioClient(
        new ServerProcess(subject, "stdio", tools),
      );
      clients.set(subject.name, client);
      try {
        if (!subject.isFloor) await client.initialize(revision, method, tools);
      } catch (error) {
        unsupported.set(
          subject.name,
          error instanceof Unsupported ? error.message : String(error),
        );
      }
    }
    const params = revision === MODERN
      ? { ...toParams(method, tools), _meta: META }
      : toParams(method, tools);
    const results = await measure(
      subjects.filter(({ name }) => !unsupported.has(name)).map(
        ({ name, isFloor }) => {
          const client = clients.get(name)!;
          const mark = isFloor ? '"jsonrpc"' : toExpectedText(method, tools);
          return {
            name,
            ...(!isFloor && { baseline: FLOOR.name }),
            concurrency: inFlight,
            processorTime: () => client.server.processorTime(),
            prepare: async () => async () => {
              const line = await client.request(method, params);
              if (!line.includes(mark)) {
                throw new Error(
                  `${name}: unexpected response: ${line.slice(0, 200)}`,
                );
              }
            },
          };
        },
      ),
      rounds,
      slice,
    );
    return subjects.map(({ name: subject }) => {
      const row = {
        operation: `${method}, ${revision}, ${inFlight} in flight`,
        subject,
        inFlight,
      };
      if (unsupported.has(subject)) {
        return { ...row, unsupported: unsupported.get(subject)! };
      }
      const { name: _, ...result } = results.find(({ name }) => name === subject)!;
      return { ...row, result };
    });
  } finally {
    for (const { server } of clients.values()) server.stop();
  }
}
