/**
 * How long instances answer 503 after their PostgreSQL is back: rounds of a fault under load, on an engine of its own.
 *
 * @module
 */
import process from "node:process";
import postgres from "postgres";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { createTrivet } from "../../src/trivet.ts";
import { type Engine, newEngine } from "./engine.ts";
import { Load, makeAccount } from "./load.ts";

/** What happens to the engine: a restart, a crash of one of its processes, or the end of every connection. */
export const FAULTS = ["fast", "immediate", "backend", "terminated"] as const;
export type Fault = typeof FAULTS[number];

export interface Round {
  readonly fault: Fault;
  /** For each instance, milliseconds from the engine's return to the end of its last failed answer; 0 when there was none. */
  readonly recovered: readonly number[];
  /** Milliseconds that the slowest answer took which was asked for after the engine's return. */
  readonly slowest: number;
  /** Promises broken, in words. */
  readonly violations: readonly string[];
}

export interface RecoveryOptions {
  readonly rounds: number;
  readonly faults?: readonly Fault[];
  readonly instances?: number;
  readonly clients?: number;
  /** Milliseconds that instances are looked at after the engine's return. */
  readonly watch?: number;
  readonly onRound?: (round: Round) => void;
}

const ISSUER = "http://127.0.0.1:8787";
/** Milliseconds of load before each fault. */
const BEFORE = 1000;
/** Milliseconds for which an engine that restarts is away. */
const AWAY = 300;
/** Milliseconds between two looks at each instance. */
const LOOK_EVERY = 25;

/** Runs the rounds, the faults in turn. */
export async function measureRecovery(options: RecoveryOptions): Promise<readonly Round[]> {
  const { rounds, faults = FAULTS, onRound = () => {} } = options;
  const engine = await newEngine("postgres");
  await engine.start();
  await whenBack(engine);
  try {
    const measured: Round[] = [];
    for (let i = 0; i < rounds; i++) {
      const round = await runRound(engine, faults[i % faults.length]!, options);
      measured.push(round);
      onRound(round);
    }
    return measured;
  } finally {
    await engine.remove();
  }
}

async function runRound(
  engine: Engine,
  fault: Fault,
  { instances = 3, clients = 12, watch = 8000 }: RecoveryOptions,
): Promise<Round> {
  const stores = Array.from({ length: instances }, () => postgresStore(engine.address()));
  const trivets = stores.map((store) =>
    createTrivet({ issuer: ISSUER, store, oauth: { passwordIterations: 1000 } })
  );
  // As instances with open streams do: commits of watched keys are announced.
  const watching = stores.map((store) => store.watch(["mcp"]).getReader());
  const account = await makeAccount(stores[0]!);
  /** When each instance's last answer that failed came. */
  const lastFailed = Array<number>(instances).fill(-Infinity);
  const send = async (instance: number, path: string, init?: RequestInit): Promise<Response> => {
    const response = await trivets[instance]!.fetch(new Request(ISSUER + path, init));
    if (response.status >= 500) lastFailed[instance] = performance.now();
    return response;
  };
  const over = Promise.withResolvers<void>();
  const load = new Load({ send, instances, rounds: 100_000, clients, until: over.promise }, account);
  const running = load.run();
  const form = { client_id: account.client_id, client_secret: account.client_secret };
  let isOver = false;
  let back = Infinity;
  let slowest = 0;
  const looking = trivets.map(async (_, instance) => {
    const looks: Promise<unknown>[] = [];
    while (!isOver) {
      const body = new URLSearchParams({ ...form, grant_type: "client_credentials" });
      const began = performance.now();
      const look = async () => {
        await (await send(instance, "/oauth/token", { method: "POST", body })).text();
        if (began >= back) slowest = Math.max(slowest, Math.round(performance.now() - began));
      };
      looks.push(look());
      await pause(LOOK_EVERY);
    }
    await Promise.all(looks);
  });
  await pause(BEFORE);
  back = await FAULT[fault](engine);
  await pause(watch);
  isOver = true;
  over.resolve();
  await Promise.all([running, ...looking]);
  const violations = await load.violations();
  await Promise.all(watching.map((reader) => reader.cancel()));
  await Promise.all(stores.map((store) => store.close()));
  return {
    fault,
    recovered: lastFailed.map((at) => Math.max(0, Math.round(at - back))),
    slowest,
    violations,
  };
}

/** Does it to the engine, and resolves to the time of its return. */
const FAULT: Readonly<Record<Fault, (engine: Engine) => Promise<number>>> = {
  async fast(engine) {
    await engine.stop();
    await pause(AWAY);
    await engine.start();
    return await whenBack(engine);
  },
  async immediate(engine) {
    await engine.kill();
    await pause(AWAY);
    await engine.start();
    return await whenBack(engine);
  },
  async backend(engine) {
    const [first] = await withAdmin(
      engine,
      (sql) =>
        sql`SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
    );
    process.kill(first!.pid, "SIGKILL");
    // The others end and it recovers, which takes a moment to begin.
    await pause(50);
    return await whenBack(engine);
  },
  async terminated(engine) {
    await withAdmin(
      engine,
      (sql) =>
        sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    return performance.now();
  },
};

async function withAdmin<Result>(
  engine: Engine,
  work: (sql: postgres.Sql) => Promise<Result>,
): Promise<Result> {
  const sql = postgres(engine.address(), { max: 1, fetch_types: false });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function whenBack(engine: Engine): Promise<number> {
  while (!await engine.accepts()) await pause(5);
  return performance.now();
}

/** The value below which this share of the sorted values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
