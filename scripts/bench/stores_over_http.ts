/**
 * Measures the token endpoint and introspection over HTTP on each available store, compared with bare `node:http` in the
 * same run. `trivet serve` is another process; this process sends the requests.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startTrivet, temporaryFolder } from "../../src/end_to_end/test_process.ts";
import { findEngine } from "../../src/store/test_engines.ts";
import { dropStore } from "../cluster/cluster.ts";
import { openLoad } from "./http_load.ts";
import { measure, printResults, type Result, type Subject } from "./harness.ts";
import { readProcessorTime } from "./measuring/process_time.ts";

const CONNECTIONS = 16;
const FLOOR = "floor: POST, raw node:http";

export async function measureStoresOverHttp(rounds: number, slice: number, only = ""): Promise<Result[]> {
  const cleanups: (() => unknown)[] = [];
  try {
    const subjects: Subject[] = [await startFloor(cleanups)];
    const stores: [string, string | undefined, string][] = [
      ["SQLite", "sqlite", "1000"],
      ["PostgreSQL", await findEngine("postgres"), "1000"],
      ["PostgreSQL, no cache", await findEngine("postgres"), "0"],
      ["Redis", await findEngine("redis"), "1000"],
      ["Redis, no cache", await findEngine("redis"), "0"],
    ];
    for (const [name, store, cache] of stores) {
      if (!name.startsWith(only)) continue;
      // Each has its own schema or name, because the cache setting of the first instance is stored.
      const own = `bench_${name.replace(/\W+/g, "_").toLowerCase()}_${process.pid}`;
      const address = store?.startsWith("postgres")
        ? `${store}?schema=${own}`
        : store?.startsWith("redis")
        ? `${store}?name=${own}`
        : store;
      if (address?.includes("://")) cleanups.push(() => dropStore(address));
      if (address !== undefined) subjects.push(...await startSubjects(name, address, cache, cleanups));
    }
    const results = await measure(subjects, rounds, slice);
    printResults(`Over HTTP on Node, ${CONNECTIONS} connections`, results);
    return results;
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

async function startFloor(cleanups: (() => unknown)[]): Promise<Subject> {
  const file = fileURLToPath(new URL("./http_server.ts", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [file, "raw"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  cleanups.push(() => child.kill("SIGKILL"));
  const port = await new Promise<string>((resolve) =>
    createInterface({ input: child.stdout! }).once("line", resolve)
  );
  const url = `http://127.0.0.1:${port}`;
  return createSubject(FLOOR, child.pid!, url, "/mcp", "{}", "application/json", cleanups);
}

async function startSubjects(
  name: string,
  store: string,
  cache: string,
  cleanups: (() => unknown)[],
): Promise<Subject[]> {
  const folder = temporaryFolder();
  const server = await startTrivet(["--store", store, "--data", folder.path, "--cache", cache, "--demo"]);
  cleanups.push(() => folder.remove(), () => server.stop());
  const { client: { id, secret }, url } = server.facts;
  const credentials = `client_id=${id}&client_secret=${secret}`;
  const grant = `grant_type=client_credentials&${credentials}&scope=read`;
  const form = "application/x-www-form-urlencoded";
  const issued = await fetch(`${url}/oauth/token`, {
    method: "POST",
    body: grant,
    headers: { "content-type": form },
  });
  const { access_token } = await issued.json();
  const pid = server.child.pid!;
  const withBaseline = { baseline: FLOOR };
  return [
    {
      ...createSubject(`${name}: token endpoint`, pid, url, "/oauth/token", grant, form, cleanups),
      ...withBaseline,
    },
    {
      ...createSubject(
        `${name}: introspection`,
        pid,
        url,
        "/oauth/introspect",
        `token=${access_token}&${credentials}`,
        form,
        cleanups,
      ),
      ...withBaseline,
    },
  ];
}

function createSubject(
  name: string,
  pid: number,
  url: string,
  path: string,
  body: string,
  type: string,
  cleanups: (() => unknown)[],
): Subject {
  const load = openLoad(url, CONNECTIONS);
  cleanups.push(() => load.close());
  return {
    name,
    concurrency: CONNECTIONS,
    processorTime: () => Promise.resolve(readProcessorTime(pid)),
    prepare: async () => () => load.post(path, body, type),
  };
}
