/**
 * `npm run bench -- --instances [--only PostgreSQL|Redis]`: what one more instance on the same store costs. First the
 * processor time of all instances for a request, with one instance and with three, of which one at a time has the load, so
 * that they do not share its processor with each other: the other two then pay for nothing but being on the same store. While
 * the engine is not the limit, the rate of all grows by `instances * time with one / time with all`, which is on paper, because
 * the machine may have fewer processors than processes. Then the processor time that a commit costs all other instances, while
 * 1, 3 and 8 of them watch, of a record that they watch and of another one.
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
import { readProcessorTime } from "../measuring/process_time.ts";

export interface InstancesResult {
  readonly engine: string;
  readonly operation: string;
  readonly instances: number;
  /** Microseconds of processor time of all instances for a request, or of all watchers for a commit. */
  readonly cpu: number;
  readonly perSecond: number;
}

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
    const title = `${name}: processor time in microseconds`;
    printTable(
      title,
      ["instances", "cpu", "per second", "rate to one, on paper"],
      own.map(({ operation, instances, cpu, perSecond }) => {
        const one = own.find((each) => each.operation === operation)!;
        const paper = operation.startsWith("commit") ? "" : (instances * one.cpu / cpu).toFixed(2);
        return [operation, String(instances), cpu.toFixed(1), perSecond.toFixed(0), paper];
      }),
    );
    results.push(...own);
  }
  return results;
}

async function measureRequests(engine: string, address: string, slice: number): Promise<InstancesResult[]> {
  const results: InstancesResult[] = [];
  for (const count of [1, 3]) {
    const store = openStore(address);
    const cluster = await startCluster(address, count);
    const loads = cluster.instances.map(({ facts }) => openLoad(facts.url, CONNECTIONS));
    try {
      const { client_id, client_secret } = await createAccount(store);
      const credentials = `client_id=${client_id}&client_secret=${client_secret}`;
      const grant = `grant_type=client_credentials&scope=read&${credentials}`;
      const issued = await fetch(`${cluster.url}/oauth/token`, {
        method: "POST",
        body: grant,
        headers: { "content-type": FORM },
      });
      const { access_token } = await issued.json();
      const operations = [
        ["token", "/oauth/token", grant],
        ["introspection", "/oauth/introspect", `token=${access_token}&${credentials}`],
      ] as const;
      const pids = cluster.instances.map(({ child }) => child.pid!);
      for (const [operation, path, body] of operations) {
        const run = async (ms: number) => {
          let done = 0;
          for (const load of loads) done += await runFor(ms, () => load.post(path, body, FORM));
          return done;
        };
        // Each instance compiles its code first.
        await run(3 * slice);
        const before = readAll(pids);
        const done = await run(3 * slice);
        const cpu = (readAll(pids) - before) / done;
        results.push({
          engine,
          operation,
          instances: count,
          cpu,
          perSecond: done / (3 * slice * count) * 1000,
        });
      }
    } finally {
      for (const load of loads) await load.close();
      await cluster.stop();
      await store.close();
      await dropStore(address);
    }
  }
  return results.sort((a, b) => a.operation.localeCompare(b.operation));
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
