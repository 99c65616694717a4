/**
 * The third part: servers over standard input and output, a line for a message, and how long one takes to give its first
 * answer from when it is started.
 *
 * @module
 */
import { measure, type Result } from "../harness.ts";
import { buildTrivet } from "./built.ts";
import type { NetworkExtent } from "./over_http.ts";
import { Running } from "./running.ts";
import { FLOOR, type Subject, SUBJECTS, TRIVET } from "./subject.ts";
import { median, printReasons, printTable, short } from "./table.ts";
import { LEGACY, markOf, META, MODERN, NotOffered, paramsOf } from "./wire.ts";

export interface StdioResult {
  readonly operation: string;
  readonly subject: string;
  readonly inFlight?: number;
  readonly result?: Omit<Result, "name">;
  /** Of a start, to the first answer. */
  readonly milliseconds?: number;
  /** Microseconds of processor time of a start. */
  readonly cpu?: number;
  readonly refused?: string;
}

const PATIENCE = 5000;
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

/** @param starts of each server, for their median */
export async function measureStdio(
  tools: number,
  extent: NetworkExtent,
  starts: number,
): Promise<StdioResult[]> {
  const subjects = SUBJECTS.filter(({ only, accept }) => only === undefined && accept === undefined);
  const reasons = new Map<string, string>();
  const results: StdioResult[] = [];
  for (const row of ROWS) {
    if (row.method === "tools/list" && !extent.lists) continue;
    const own = await measureOne(subjects, row, tools, extent);
    const name = `${row.method}, ${row.revision}`;
    results.push(...own);
    for (const { subject, refused } of own) {
      if (refused !== undefined) reasons.set(`${subject}, ${name}`, refused);
    }
    const trivet = own.find(({ subject }) => subject === TRIVET.name)?.result;
    printTable(
      `Over stdio, ${tools} tools: ${name}, ${row.inFlight} in flight`,
      ["per second", "p50 us", "p99 us", "of floor", "cost us", "to Trivet"],
      own.map(({ subject, result }) =>
        result === undefined ? [subject, "not offered"] : [
          subject,
          short(result.perSecond),
          short(result.p50),
          short(result.p99),
          result.ratio?.toFixed(2) ?? "",
          short(result.cpu ?? 0),
          trivet?.cpu && result.cpu ? `${short(result.cpu / trivet.cpu)}x` : "",
        ]
      ),
    );
  }
  const started = await measureStarts(subjects, tools, starts);
  const own = started.find(({ subject }) => subject === TRIVET.name)?.cpu;
  printTable(
    `Start over stdio, ${tools} tools, until initialize is answered: median of ${starts}`,
    ["ms", "cost ms", "to Trivet"],
    started.map(({ subject, milliseconds, cpu }) =>
      milliseconds === undefined
        ? [subject, "not offered"]
        : [subject, short(milliseconds), short(cpu! / 1000), own === undefined ? "" : `${short(cpu! / own)}x`]
    ),
  );
  printReasons(reasons);
  return [...results, ...started];
}

async function measureOne(
  subjects: readonly Subject[],
  { revision, method, inFlight }: typeof ROWS[number],
  tools: number,
  { rounds, slice }: NetworkExtent,
): Promise<StdioResult[]> {
  const refused = new Map<string, string>();
  const open = new Map<string, Lines>();
  try {
    for (const subject of subjects) {
      const lines = new Lines(new Running(subject, "stdio", tools));
      open.set(subject.name, lines);
      try {
        if (!subject.isFloor) await lines.open(revision, method, tools);
      } catch (error) {
        refused.set(subject.name, error instanceof NotOffered ? error.message : String(error));
      }
    }
    const params = revision === MODERN
      ? { ...paramsOf(method, tools), _meta: META }
      : paramsOf(method, tools);
    const results = await measure(
      subjects.filter(({ name }) => !refused.has(name)).map(
        ({ name, isFloor }) => {
          const lines = open.get(name)!;
          const mark = isFloor ? '"jsonrpc"' : markOf(method, tools);
          return {
            name,
            ...(!isFloor && { yardstick: FLOOR.name }),
            concurrency: inFlight,
            processorTime: () => lines.server.processorTime(),
            prepare: async () => async () => {
              const line = await lines.ask(method, params);
              if (!line.includes(mark)) {
                throw new Error(`${name} answered ${line.slice(0, 200)}`);
              }
            },
          };
        },
      ),
      rounds,
      slice,
    );
    return subjects.map(({ name: subject }) => {
      const told = { operation: `${method}, ${revision}, ${inFlight} in flight`, subject, inFlight };
      if (refused.has(subject)) {
        return { ...told, refused: refused.get(subject)! };
      }
      const { name: _, ...result } = results.find(({ name }) => name === subject)!;
      return { ...told, result };
    });
  } finally {
    for (const { server } of open.values()) server.stop();
  }
}

async function measureStarts(
  others: readonly Subject[],
  tools: number,
  starts: number,
): Promise<StdioResult[]> {
  const build = buildTrivet();
  if ("refused" in build) {
    console.log(`\n  Not as published, but from its sources: ${build.refused}`);
    return await startInTurn(others, tools, starts);
  }
  const subjects = others.flatMap((subject) =>
    subject === TRIVET
      ? [{ ...TRIVET, option: build.url }, { ...TRIVET, name: "Trivet, from its sources" }]
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
  // The first is not counted: files are read from disk.
  for (let round = -1; round < starts; round++) {
    for (const subject of subjects) {
      const started = performance.now();
      const lines = new Lines(new Running(subject, "stdio", tools));
      try {
        await lines.ask("initialize", paramsOf("initialize", tools));
        const taken = performance.now() - started;
        const cost = await lines.server.processorTime();
        if (round >= 0) {
          times.get(subject.name)!.push(taken);
          costs.get(subject.name)!.push(cost);
        }
      } catch {
        // Told with the calls.
      }
      lines.server.stop();
    }
  }
  return [...times].map(([subject, own]) => ({
    operation: "start",
    subject,
    ...(own.length > 0
      ? { milliseconds: median(own), cpu: median(costs.get(subject)!) }
      : { refused: "no answer" }),
  }));
}

/** A server's standard input and output: requests by their ids. */
class Lines {
  readonly server: Running;
  readonly #waiting = new Map<
    number,
    { resolve(line: string): void; reject(error: Error): void }
  >();
  #last = 0;
  #rest = "";

  constructor(server: Running) {
    this.server = server;
    const { stdout, stdin } = server.process;
    stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop()!;
      for (const line of lines) {
        const id = Number(/"id":(\d+)/.exec(line)?.[1]);
        this.#waiting.get(id)?.resolve(line);
        this.#waiting.delete(id);
      }
    });
    stdin!.on("error", () => {});
    server.process.once("exit", () => {
      for (const { reject } of this.#waiting.values()) {
        reject(new NotOffered("it serves no stdio"));
      }
    });
  }

  /** The line that answers. */
  ask(method: string, params: Record<string, unknown>): Promise<string> {
    const id = ++this.#last;
    this.server.process.stdin!.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Goes through the handshake, where the revision has one, and looks at an answer. */
  async open(revision: string, method: Method, tools: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) =>
      timer = setTimeout(() => reject(new NotOffered(`no answer in ${PATIENCE} ms`)), PATIENCE)
    );
    const shake = async () => {
      const meta = revision === MODERN ? { _meta: META } : {};
      if (revision === LEGACY) {
        await this.ask("initialize", paramsOf("initialize", tools));
        this.server.process.stdin!.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      }
      const line = await this.ask(method, { ...paramsOf(method, tools), ...meta });
      if (
        !line.includes(markOf(method, tools)) ||
        revision === MODERN && !line.includes("resultType")
      ) {
        throw new NotOffered(`answered ${line.slice(0, 200)}`);
      }
    };
    try {
      await Promise.race([shake(), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
