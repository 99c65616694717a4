/**
 * The second part: servers over HTTP on loopback, each a process. This process sends the requests with `undici`, with one
 * connection for each concurrent request. It uses more processor time than the fastest servers, so the cost of a server is
 * its own processor time for each response.
 *
 * @module
 */
import { Pool } from "undici";
import { measure, type Result } from "../harness.ts";
import { ServerProcess } from "./server_process.ts";
import { FLOOR, type Subject, SUBJECTS, TRIVET } from "./subject.ts";
import { formatNumber, formatTimes, printReasons, printTable } from "./table.ts";
import { type Operation, OPERATIONS, prepare, type Send, Unsupported } from "./wire.ts";

export interface HttpResult {
  readonly operation: string;
  readonly tools: number;
  readonly concurrency: number;
  readonly subject: string;
  readonly result?: Omit<Result, "name">;
  readonly unsupported?: string;
}

const CONCURRENCIES = [1, 64];

/** The size of a measurement over HTTP or stdio. */
export interface NetworkSize {
  readonly rounds: number;
  /** Milliseconds of one server in one round. */
  readonly slice: number;
  /** Whether `tools/list` is measured too. */
  readonly lists: boolean;
}

/** Returns a function that sends messages with a pool. */
export function createSend(pool: Pool): Send {
  return async ({ method, headers, body }) => {
    const response = await pool.request({ method, path: "/mcp", headers, body: body ?? null });
    const session = response.headers["mcp-session-id"];
    return {
      status: response.statusCode,
      session: typeof session === "string" ? session : null,
      text: await response.body.text(),
    };
  };
}

export async function measureHttp(tools: number, size: NetworkSize): Promise<HttpResult[]> {
  const subjects = SUBJECTS.filter(({ only }) => only === undefined);
  const results: HttpResult[] = [];
  const reasons = new Map<string, string>();
  for (const operation of OPERATIONS) {
    const { method, variant, name } = operation;
    const isMeasured = method === "tools/call" ||
      method === "tools/list" && variant === "stateless" && size.lists;
    if (!isMeasured) continue;
    const own: HttpResult[] = [];
    const servers = subjects.map((subject) => new ServerProcess(subject, variant, tools));
    try {
      for (const concurrency of CONCURRENCIES) {
        own.push(...await measureOne(servers, operation, tools, concurrency, size));
      }
    } finally {
      for (const server of servers) server.stop();
    }
    for (const { subject, unsupported } of own) {
      if (unsupported !== undefined) reasons.set(`${subject}, ${name}`, unsupported);
    }
    printOperation(operation, tools, subjects, own);
    results.push(...own);
  }
  printReasons(reasons);
  return results;
}

async function measureOne(
  servers: readonly ServerProcess[],
  operation: Operation,
  tools: number,
  concurrency: number,
  { rounds, slice }: NetworkSize,
): Promise<HttpResult[]> {
  const unsupported = new Map<string, string>();
  const calls = new Map<ServerProcess, () => Promise<void>>();
  const pools: Pool[] = [];
  for (const server of servers) {
    const { name, accept, latest, isFloor } = server.subject;
    try {
      const port = await server.ready;
      if (port < 0) throw new Unsupported("the server does not support it");
      const pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency });
      pools.push(pool);
      const send = createSend(pool);
      const { call } = isFloor ? { call: callFloor(send) } : await prepare(send, operation, tools, {
        accept,
        latest,
        sessions: concurrency,
      });
      // A later failure must not end the measurement of the other servers.
      calls.set(server, () =>
        call().catch((error) => {
          unsupported.set(name, `failed: ${String(error)}`);
          return new Promise((resolve) => setTimeout(resolve, 10));
        }));
    } catch (error) {
      unsupported.set(name, error instanceof Unsupported ? error.message : String(error));
    }
  }
  const results = await measure(
    [...calls].map(([server, call]) => ({
      name: server.subject.name,
      ...(server.subject !== FLOOR && { baseline: FLOOR.name }),
      concurrency,
      processorTime: () => server.processorTime(),
      prepare: async () => call,
    })),
    rounds,
    slice,
  );
  await Promise.all(pools.map((pool) => pool.destroy()));
  return servers.map(({ subject: { name: subject } }) => {
    const row = { operation: operation.name, tools, concurrency, subject };
    if (unsupported.has(subject)) {
      return { ...row, unsupported: unsupported.get(subject)! };
    }
    const { name: _, ...result } = results.find(({ name }) => name === subject)!;
    return { ...row, result };
  });
}

function callFloor(send: Send): () => Promise<void> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}';
  return async () => {
    const { status } = await send({ method: "POST", headers: { "content-type": "application/json" }, body });
    if (status !== 200) throw new Error(`The floor responded with ${status}`);
  };
}

function printOperation(
  { name }: Operation,
  tools: number,
  subjects: readonly Subject[],
  results: readonly HttpResult[],
): void {
  const findResult = (subject: string, concurrency: number) =>
    results.find((result) => result.subject === subject && result.concurrency === concurrency)?.result;
  const rows = subjects.map(({ name: subject }) => [
    subject,
    ...CONCURRENCIES.flatMap((concurrency) => {
      const result = findResult(subject, concurrency);
      if (!result) return ["not supported", "", "", "", ""];
      const own = findResult(TRIVET.name, concurrency);
      return [
        formatNumber(result.perSecond),
        formatNumber(result.p50),
        formatNumber(result.p99),
        formatNumber(result.cpu ?? 0),
        formatTimes(result.costs, own?.costs),
      ];
    }),
  ]);
  printTable(
    `Over HTTP, ${tools} tools: ${name} ("cost" is the server's processor time, "to Trivet" the median of its ratios to Trivet's in the same rounds)`,
    CONCURRENCIES.flatMap((
      concurrency,
    ) => [`${concurrency} concurrent /s`, "p50 us", "p99 us", "cost us", "to Trivet"]),
    rows,
  );
}
