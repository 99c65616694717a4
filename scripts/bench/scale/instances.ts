/**
 * `npm run bench -- --instances [--only PostgreSQL|Redis]`: what one more instance on the same store costs. First the
 * processor time of all instances for a request, of one instance and of three on a store of their own, of which one at a time
 * has the load, so that they do not share its processor with each other: the other two then pay for nothing but being on the
 * same store. While the engine is not the limit, the rate of all grows by `instances * time of one / time of all`, which is on
 * paper, because the machine may have fewer processors than processes. Both are warmed until their rates are steady and then
 * measured in turns, and the rate is the median of the rounds: a cluster measured after the other found a warmer or a colder
 * engine. Where the interval is wide, the part of the instance with the load tells more: both are measured at the same time.
 * Then the processor time that a commit costs all other instances, while 1, 3 and 8 of them watch, of a record that they watch
 * and of another one.
 *
 * @module
 */
import { type ChildProcess, fork } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createAccount } from "../../faults/load.ts";
import { dropStore, openStore, startCluster } from "../../cluster/cluster.ts";
import { findEngine } from "../../../src/store/test_engines.ts";
import { openLoad } from "../http_load.ts";
import { printTable } from "../mcp_peers/table.ts";
import { explain } from "../reporting/explanations.ts";
import type { Row } from "../reporting/page.ts";
import { addTable } from "../reporting/report.ts";
import { readProcessorTime } from "../measuring/process_time.ts";
import { runRounds } from "../measuring/rounds.ts";
import { findNoise, type Interval, median, medianInterval } from "../measuring/statistics.ts";

export interface InstancesResult {
  readonly engine: string;
  readonly operation: string;
  readonly instances: number;
  /** Microseconds of processor time of all instances for a request, or of all watchers for a commit. */
  readonly cpu: number;
  readonly perSecond: number;
  /** The rate of all instances to that of one, on paper; only for requests. */
  readonly rate?: number;
  /** Contains the rate with a probability of 95 %. */
  readonly interval?: Interval | undefined;
  /** Why the row is noisy; empty if it is not. */
  readonly noise?: readonly string[];
  /** The part of the processor time that the instance with the load used; the others pay the rest. */
  readonly loaded?: number;
}

const COUNTS = [1, 3];
/** The rate of three instances to that of one. */
const TARGET = 2.6;
const RATIO = "rates on paper: that of all instances, divided by that of one";
const ROUNDS = 9;
const FORM = "application/x-www-form-urlencoded";
const CONNECTIONS = 8;
const WATCHER = fileURLToPath(new URL("./instances_watcher.ts", import.meta.url));

/** @param only a part of an engine's name @param slice milliseconds of one measurement */
export async function measureInstances(slice: number, only = ""): Promise<InstancesResult[]> {
  const results: InstancesResult[] = [];
  const engines = [["PostgreSQL", "postgres", "schema"], ["Redis", "redis", "name"]] as const;
  for (const [name, engine, parameter] of engines.filter(([name]) => name.includes(only))) {
    const found = await findEngine(engine);
    if (found === undefined) continue;
    const address = `${found}?${parameter}=trivet_bench_${process.pid}`;
    const own = [
      ...await measureRequests(name, address, slice),
      ...await measureCommits(name, address, slice),
    ];
    addTable(`Three instances on one engine: ${name}`, own.map(toRow), RATIO);
    printTable(
      `${name}: processor time in microseconds`,
      ["instances", "cpu", "per second", "rate to one, on paper", "part of the loaded", ""],
      own.map(({ operation, instances, cpu, perSecond, rate, interval, loaded, noise = [] }) => [
        operation,
        String(instances),
        cpu.toFixed(1),
        perSecond.toFixed(0),
        rate === undefined || instances === 1
          ? ""
          : `${rate.toFixed(2)} ${interval!.low.toFixed(2)}-${interval!.high.toFixed(2)}`,
        loaded?.toFixed(3) ?? "",
        noise.length > 0 ? "noisy" : "",
      ]),
    );
    results.push(...own);
  }
  return results;
}

function toRow({ operation, instances, cpu, perSecond, rate, interval, noise }: InstancesResult): Row {
  const isCompared = rate !== undefined && instances > 1;
  return {
    name: `${operation}: ${instances} instance${instances === 1 ? "" : "s"}`,
    explanation: explain(`instances: ${rate === undefined ? operation : "request"}`),
    perSecond,
    cpu,
    ...isCompared && { ratio: rate, interval, noise, baseline: `${operation}: 1 instance`, target: TARGET },
  };
}

async function measureRequests(engine: string, address: string, slice: number): Promise<InstancesResult[]> {
  const addresses = COUNTS.map((count) => `${address}_${count}`);
  const targets: Target[] = [];
  try {
    for (const [i, count] of COUNTS.entries()) targets.push(await openTarget(addresses[i]!, count));
    const results: InstancesResult[] = [];
    for (const operation of ["token", "introspection"] as const) {
      const parts = COUNTS.map((): number[] => []);
      const runners = targets.map(({ pids, run }, i) => ({
        name: String(COUNTS[i]),
        async run() {
          const ms = slice * 0.4;
          const { done, loaded, all } = await run(operation, ms);
          parts[i]!.push(loaded / all);
          return { cpu: all / done, perSecond: done / (ms * pids.length) * 1000, times: [] };
        },
      }));
      const series = await runRounds(runners, ROUNDS);
      const costs = series.map(({ samples }) => samples.map(({ cpu }) => cpu!));
      for (const [i, { samples, isSteady }] of series.entries()) {
        const rates = costs[i]!.map((cpu, round) => COUNTS[i]! * costs[0]![round]! / cpu);
        const [rate, interval] = [median(rates), medianInterval(rates)];
        results.push({
          engine,
          operation,
          instances: COUNTS[i]!,
          cpu: median(costs[i]!),
          perSecond: median(samples.map(({ perSecond }) => perSecond)),
          rate,
          interval,
          noise: findNoise({ ratio: rate, interval, isSteady, machine: undefined }),
          loaded: median(parts[i]!.slice(-ROUNDS)),
        });
      }
    }
    return results;
  } finally {
    for (const target of targets) await target.close();
    for (const each of addresses) await dropStore(each);
  }
}

/** The number of requests, and the microseconds of the instance with the load and of all. */
interface Load {
  readonly done: number;
  readonly loaded: number;
  readonly all: number;
}

/** Instances on a store. */
interface Target {
  readonly pids: readonly number[];
  /** Sends requests to each instance in turn, for this time each. */
  run(operation: "token" | "introspection", ms: number): Promise<Load>;
  close(): Promise<void>;
}

async function openTarget(address: string, count: number): Promise<Target> {
  const store = openStore(address);
  const cluster = await startCluster(address, count);
  const loads = cluster.instances.map(({ facts }) => openLoad(facts.url, CONNECTIONS));
  const { client_id, client_secret } = await createAccount(store);
  const credentials = `client_id=${client_id}&client_secret=${client_secret}`;
  const grant = `grant_type=client_credentials&scope=read&${credentials}`;
  const issued = await fetch(`${cluster.url}/oauth/token`, {
    method: "POST",
    body: grant,
    headers: { "content-type": FORM },
  });
  const { access_token } = await issued.json();
  const operations = {
    token: ["/oauth/token", grant],
    introspection: ["/oauth/introspect", `token=${access_token}&${credentials}`],
  } as const;
  const pids = cluster.instances.map(({ child }) => child.pid!);
  return {
    pids,
    async run(operation, ms) {
      const [path, body] = operations[operation];
      let [done, loaded, all] = [0, 0, 0];
      for (const [i, load] of loads.entries()) {
        const before = pids.map(readProcessorTime);
        done += await runFor(ms, () => load.post(path, body, FORM));
        const used = pids.map((pid, j) => readProcessorTime(pid) - before[j]!);
        loaded += used[i]!;
        all += used.reduce((sum, each) => sum + each, 0);
      }
      return { done, loaded, all };
    },
    async close() {
      for (const load of loads) await load.close();
      await cluster.stop();
      await store.close();
    },
  };
}

async function measureCommits(engine: string, address: string, slice: number): Promise<InstancesResult[]> {
  const results: InstancesResult[] = [];
  for (
    const [operation, kind] of [["commit, watched", "mcp"], ["commit, not watched", "access_token"]] as const
  ) {
    for (const count of [1, 3, 8]) {
      const store = openStore(address);
      const watchers: ChildProcess[] = [];
      try {
        await store.get([kind]);
        for (let i = 0; i < count; i++) {
          const watcher = fork(WATCHER, [address]);
          watchers.push(watcher);
          await new Promise((resolve) => watcher.once("message", resolve));
        }
        let n = 0;
        const commit = () =>
          store.commit({ set: [{ key: [kind, "event", "x", "y", n++ % 1000], value: "x" }] });
        const pids = watchers.map(({ pid }) => pid!);
        await runFor(slice / 2, commit);
        const before = readAll(pids);
        const done = await runFor(2 * slice, commit);
        const cpu = (readAll(pids) - before) / done;
        results.push({ engine, operation, instances: count, cpu, perSecond: done / (2 * slice) * 1000 });
      } finally {
        for (const watcher of watchers) watcher.kill("SIGKILL");
        await store.close();
        await dropStore(address);
      }
    }
  }
  return results;
}

function readAll(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readProcessorTime(pid), 0);
}

/** Repeats a call on its connections. Returns how often. */
async function runFor(ms: number, call: () => Promise<unknown>): Promise<number> {
  const end = performance.now() + ms;
  let done = 0;
  const worker = async (): Promise<void> => {
    for (; performance.now() < end; done++) await call();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  return done;
}
