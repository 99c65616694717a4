/**
 * The second part: servers that are processes of their own, over HTTP on loopback. This process is the load, through
 * `undici`, with as many connections as requests are under way. The load takes processor time too, more than the quickest
 * servers do: what a server costs is told by its own processor time for an answer.
 *
 * @module
 */
import { Pool } from "undici";
import { measure, type Result } from "../harness.ts";
import { Running } from "./running.ts";
import { FLOOR, type Subject, SUBJECTS, TRIVET } from "./subject.ts";
import { printReasons, printTable, short } from "./table.ts";
import { NotOffered, type Operation, OPERATIONS, prepare, type Send } from "./wire.ts";

export interface HttpResult {
  readonly operation: string;
  readonly tools: number;
  readonly concurrency: number;
  readonly subject: string;
  readonly result?: Omit<Result, "name">;
  readonly refused?: string;
}

const CONCURRENCIES = [1, 64];

/** How long servers are measured over HTTP and stdio. */
export interface NetworkExtent {
  readonly rounds: number;
  /** Milliseconds of one server in one round. */
  readonly slice: number;
  /** Whether `tools/list` is measured too. */
  readonly lists: boolean;
}

/** A pool's requests as what the operations need. */
export function sendBy(pool: Pool): Send {
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

export async function measureHttp(tools: number, extent: NetworkExtent): Promise<HttpResult[]> {
  const subjects = SUBJECTS.filter(({ only }) => only === undefined);
  const results: HttpResult[] = [];
  const reasons = new Map<string, string>();
  for (const operation of OPERATIONS) {
    const { method, variant, name } = operation;
    const isMeasured = method === "tools/call" ||
      method === "tools/list" && variant === "stateless" && extent.lists;
    if (!isMeasured) continue;
    const own: HttpResult[] = [];
    const servers = subjects.map((subject) => new Running(subject, variant, tools));
    try {
      for (const concurrency of CONCURRENCIES) {
        own.push(...await measureOne(servers, operation, tools, concurrency, extent));
      }
    } finally {
      for (const server of servers) server.stop();
    }
    for (const { subject, refused } of own) {
      if (refused !== undefined) reasons.set(`${subject}, ${name}`, refused);
    }
    printOperation(operation, tools, subjects, own);
    results.push(...own);
  }
  printReasons(reasons);
  return results;
}

async function measureOne(
  servers: readonly Running[],
  operation: Operation,
  tools: number,
  concurrency: number,
  { rounds, slice }: NetworkExtent,
): Promise<HttpResult[]> {
  const refused = new Map<string, string>();
  const calls = new Map<Running, () => Promise<void>>();
  const pools: Pool[] = [];
  for (const server of servers) {
    const { name, accept, newest, isFloor } = server.subject;
    try {
      const port = await server.ready;
      if (port < 0) throw new NotOffered("it has none");
      const pool = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency });
      pools.push(pool);
      const send = sendBy(pool);
      const { call } = isFloor ? { call: callFloor(send) } : await prepare(send, operation, tools, {
        accept,
        newest,
        sessions: concurrency,
      });
      // A failure later on must not end the run of the others.
      calls.set(server, () =>
        call().catch((error) => {
          refused.set(name, `stopped: ${String(error)}`);
          return new Promise((resolve) => setTimeout(resolve, 10));
        }));
    } catch (error) {
      refused.set(name, error instanceof NotOffered ? error.message : String(error));
    }
  }
  const results = await measure(
    [...calls].map(([server, call]) => ({
      name: server.subject.name,
      ...(server.subject !== FLOOR && { yardstick: FLOOR.name }),
      concurrency,
      processorTime: () => server.processorTime(),
      prepare: async () => call,
    })),
    rounds,
    slice,
  );
  await Promise.all(pools.map((pool) => pool.destroy()));
  return servers.map(({ subject: { name: subject } }) => {
    const told = { operation: operation.name, tools, concurrency, subject };
    if (refused.has(subject)) {
      return { ...told, refused: refused.get(subject)! };
    }
    const { name: _, ...result } = results.find(({ name }) => name === subject)!;
    return { ...told, result };
  });
}

function callFloor(send: Send): () => Promise<void> {
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}';
  return async () => {
    const { status } = await send({ method: "POST", headers: { "content-type": "application/json" }, body });
    if (status !== 200) throw new Error(`The floor answered ${status}`);
  };
}

function printOperation(
  { name }: Operation,
  tools: number,
  subjects: readonly Subject[],
  results: readonly HttpResult[],
): void {
  const of = (subject: string, concurrency: number) =>
    results.find((result) => result.subject === subject && result.concurrency === concurrency)?.result;
  const rows = subjects.map(({ name: subject }) => [
    subject,
    ...CONCURRENCIES.flatMap((concurrency) => {
      const result = of(subject, concurrency);
      if (!result) return ["not offered", "", "", "", ""];
      const own = of(TRIVET.name, concurrency);
      const times = own?.cpu && result.cpu ? `${short(result.cpu / own.cpu)}x` : "";
      return [
        short(result.perSecond),
        short(result.p50),
        short(result.p99),
        short(result.cpu ?? 0),
        times,
      ];
    }),
  ]);
  printTable(
    `Over HTTP, ${tools} tools: ${name} ("cost" is the server's processor time, "to Trivet" its ratio)`,
    CONCURRENCIES.flatMap((many) => [`${many} at once /s`, "p50 us", "p99 us", "cost us", "to Trivet"]),
    rows,
  );
}
