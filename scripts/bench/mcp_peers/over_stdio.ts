/**
 * The third part: servers over standard input and output, one line for each message, and the time from the start of a
 * server to its first response.
 *
 * @module
 */
import { measure, type Result } from "../harness.ts";
import { buildTrivet } from "./build_trivet.ts";
import type { NetworkSize } from "./over_http.ts";
import { ServerProcess } from "./server_process.ts";
import { FLOOR, type Subject, SUBJECTS, TRIVET } from "./subject.ts";
import { formatNumber, median, printReasons, printTable } from "./table.ts";
import { LEGACY, META, MODERN, toExpectedText, toParams, Unsupported } from "./wire.ts";

export interface StdioResult {
  readonly operation: string;
  readonly subject: string;
  readonly inFlight?: number;
  readonly result?: Omit<Result, "name">;
  /** From the start of the process to the first response. */
  readonly milliseconds?: number;
  /** Microseconds of processor time of a start. */
  readonly cpu?: number;
  readonly unsupported?: string;
}

const RESPONSE_TIMEOUT_MS = 5000;
type Method = "initialize" | "tools/list" | "tools/call";
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
      if (unsupported !== undefined) reasons.set(`${subject}, ${name}`, unsupported);
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
          trivet?.cpu && result.cpu ? `${formatNumber(result.cpu / trivet.cpu)}x` : "",
        ]
      ),
    );
  }
  const started = await measureStarts(subjects, tools, starts);
  const own = started.find(({ subject }) => subject === TRIVET.name)?.cpu;
  printTable(
    `Start over stdio, ${tools} tools, until the response to initialize: median of ${starts}`,
    ["ms", "cost ms", "to Trivet"],
    started.map(({ subject, milliseconds, cpu }) =>
      milliseconds === undefined ? [subject, "not supported"] : [
        subject,
        formatNumber(milliseconds),
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
      const client = new StdioClient(new ServerProcess(subject, "stdio", tools));
      clients.set(subject.name, client);
      try {
        if (!subject.isFloor) await client.initialize(revision, method, tools);
      } catch (error) {
        unsupported.set(subject.name, error instanceof Unsupported ? error.message : String(error));
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
                throw new Error(`${name}: unexpected response: ${line.slice(0, 200)}`);
              }
            },
          };
        },
      ),
      rounds,
      slice,
    );
    return subjects.map(({ name: subject }) => {
      const row = { operation: `${method}, ${revision}, ${inFlight} in flight`, subject, inFlight };
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

async function measureStarts(
  others: readonly Subject[],
  tools: number,
  starts: number,
): Promise<StdioResult[]> {
  const build = buildTrivet();
  if ("failure" in build) {
    console.log(`\n  Cannot build Trivet, so it starts from sources: ${build.failure}`);
    return await startInTurn(others, tools, starts);
  }
  const subjects = others.flatMap((subject) =>
    subject === TRIVET
      ? [{ ...TRIVET, option: build.url }, { ...TRIVET, name: "Trivet, from sources" }]
      : [subject]
  );
  try {
    return await startInTurn(subjects, tools, starts);
  } finally {
    build.remove();
  }
}

async function startInTurn(
  subjects: readonly Subject[],
  tools: number,
  starts: number,
): Promise<StdioResult[]> {
  const times = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  const costs = new Map<string, number[]>(subjects.map(({ name }) => [name, []]));
  // The first start is not counted, because files are read from disk.
  for (let round = -1; round < starts; round++) {
    for (const subject of subjects) {
      const started = performance.now();
      const client = new StdioClient(new ServerProcess(subject, "stdio", tools));
      try {
        await client.request("initialize", toParams("initialize", tools));
        const duration = performance.now() - started;
        const cost = await client.server.processorTime();
        if (round >= 0) {
          times.get(subject.name)!.push(duration);
          costs.get(subject.name)!.push(cost);
        }
      } catch {
        // The calls report why.
      }
      client.server.stop();
    }
  }
  return [...times].map(([subject, own]) => ({
    operation: "start",
    subject,
    ...(own.length > 0
      ? { milliseconds: median(own), cpu: median(costs.get(subject)!) }
      : { unsupported: "no response" }),
  }));
}

/** A client over the standard input and output of a server. */
class StdioClient {
  readonly server: ServerProcess;
  readonly #pending = new Map<
    number,
    { resolve(line: string): void; reject(error: Error): void }
  >();
  #lastId = 0;
  #rest = "";

  constructor(server: ServerProcess) {
    this.server = server;
    const { stdout, stdin } = server.process;
    stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop()!;
      for (const line of lines) {
        const id = Number(/"id":(\d+)/.exec(line)?.[1]);
        this.#pending.get(id)?.resolve(line);
        this.#pending.delete(id);
      }
    });
    stdin!.on("error", () => {});
    server.process.once("exit", () => {
      for (const { reject } of this.#pending.values()) {
        reject(new Unsupported("the server does not support stdio"));
      }
    });
  }

  /** Sends a request; resolves to the line of the response. */
  request(method: string, params: Record<string, unknown>): Promise<string> {
    const id = ++this.#lastId;
    this.server.process.stdin!.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  /** Initializes the session, if the revision has one, and checks a response. */
  async initialize(revision: string, method: Method, tools: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) =>
      timer = setTimeout(
        () => reject(new Unsupported(`no response within ${RESPONSE_TIMEOUT_MS} ms`)),
        RESPONSE_TIMEOUT_MS,
      )
    );
    const checkResponse = async () => {
      const meta = revision === MODERN ? { _meta: META } : {};
      if (revision === LEGACY) {
        await this.request("initialize", toParams("initialize", tools));
        this.server.process.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      }
      const line = await this.request(method, { ...toParams(method, tools), ...meta });
      if (
        !line.includes(toExpectedText(method, tools)) ||
        revision === MODERN && !line.includes("resultType")
      ) {
        throw new Unsupported(`unexpected response: ${line.slice(0, 200)}`);
      }
    };
    try {
      await Promise.race([checkResponse(), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
