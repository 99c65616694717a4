/**
 * Measures how long instances respond with 503 after PostgreSQL is available again, in rounds of a fault under load.
 *
 * @module
 */
import process from "node:process";
import postgres from "postgres";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { createTrivet } from "../../src/trivet.ts";
import { createEngine, type Engine } from "./engine.ts";
import type { Violation } from "./history.ts";
import { createAccount, Load } from "./load.ts";

/** Faults: a fast or immediate restart, a crash of one backend process, the termination of every connection. */
export const FAULTS = ["fast", "immediate", "backend", "terminated"] as const;
export type Fault = typeof FAULTS[number];

export interface Round {
  readonly fault: Fault;
  /** For each instance, the milliseconds from the recovery of the engine to its last failed response; 0 without one. */
  readonly recovered: readonly number[];
  /** The milliseconds of the slowest response to a request after the recovery of the engine. */
  readonly slowest: number;
  readonly violations: readonly Violation[];
}

export interface RecoveryOptions {
  readonly rounds: number;
  readonly faults?: readonly Fault[];
  readonly instances?: number;
  readonly clients?: number;
  /** How long instances are probed after the recovery of the engine. @default 8000 */
  readonly probeMs?: number;
  readonly onRound?: (round: Round) => void;
}

const ISSUER = "http://127.0.0.1:8787";
/** Load before each fault. */
const WARM_UP_MS = 1000;
/** Time between the stop and the start of an engine. */
const DOWNTIME_MS = 300;
/** Time between two probes of each instance. */
const PROBE_INTERVAL_MS = 25;

/** Runs the rounds, the faults in turn. */
export async function measureRecovery(options: RecoveryOptions): Promise<readonly Round[]> {
  const { rounds, faults = FAULTS, onRound = () => {} } = options;
  const engine = await createEngine("postgres");
  await engine.start();
  await waitUntilReady(engine);
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
  { instances = 3, clients = 12, probeMs = 8000 }: RecoveryOptions,
): Promise<Round> {
  const stores = Array.from({ length: instances }, () => postgresStore(engine.address()));
  const trivets = stores.map((store) =>
    createTrivet({ issuer: ISSUER, store, oauth: { passwordIterations: 1000 } })
  );
  // Like instances with open streams, which watch keys.
  const readers = stores.map((store) => store.watch(["mcp"]).getReader());
  const account = await createAccount(stores[0]!);
  /** The time of the last failed response of each instance. */
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
  let readyAt = Infinity;
  let slowest = 0;
  const probing = trivets.map(async (_, instance) => {
    const probes: Promise<unknown>[] = [];
    while (!isOver) {
      const body = new URLSearchParams({ ...form, grant_type: "client_credentials" });
      const began = performance.now();
      const probe = async () => {
        await (await send(instance, "/oauth/token", { method: "POST", body })).text();
        if (began >= readyAt) slowest = Math.max(slowest, Math.round(performance.now() - began));
      };
      probes.push(probe());
      await pause(PROBE_INTERVAL_MS);
    }
    await Promise.all(probes);
  });
  await pause(WARM_UP_MS);
  readyAt = await INJECT[fault](engine);
  await pause(probeMs);
  isOver = true;
  over.resolve();
  await Promise.all([running, ...probing]);
  const violations = await load.findViolations();
  await Promise.all(readers.map((reader) => reader.cancel()));
  await Promise.all(stores.map((store) => store.close()));
  return {
    fault,
    recovered: lastFailed.map((at) => Math.max(0, Math.round(at - readyAt))),
    slowest,
    violations,
  };
}

/** Injects a fault; resolves to the time at which the engine is ready again. */
const INJECT: Readonly<Record<Fault, (engine: Engine) => Promise<number>>> = {
  async fast(engine) {
    await engine.stop();
    await pause(DOWNTIME_MS);
    await engine.start();
    return await waitUntilReady(engine);
  },
  async immediate(engine) {
    await engine.kill();
    await pause(DOWNTIME_MS);
    await engine.start();
    return await waitUntilReady(engine);
  },
  async backend(engine) {
    const [first] = await withAdmin(
      engine,
      (sql) =>
        sql`SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1`,
    );
    process.kill(first!.pid, "SIGKILL");
    // PostgreSQL ends all other backends and recovers; this takes a moment to begin.
    await pause(50);
    return await waitUntilReady(engine);
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

async function waitUntilReady(engine: Engine): Promise<number> {
  while (!await engine.isReady()) await pause(5);
  return performance.now();
}

/** Returns a percentile. @param share from 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
