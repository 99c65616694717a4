/**
 * Benchmarks over HTTP on Node, compared with bare `node:http` in the same run. Each server is a process; this process
 * sends the requests with `undici`, on loopback, with a fixed number of connections.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import type { Subject } from "./harness.ts";
import { CALL } from "./in_process.ts";
import { readProcessorTime } from "./measuring/process_time.ts";

const CONNECTIONS = 16;
const RAW_GET = "floor: GET, raw node:http";
const RAW_POST = "floor: POST, raw node:http";

interface Server {
  readonly pid: number;
  readonly pool: Pool;
}

interface Running {
  readonly subjects: readonly Subject[];
  stop(): Promise<void>;
}

/** Starts the servers. The caller must call `stop`. */
export async function startHttpSubjects(): Promise<Running> {
  const children: ChildProcess[] = [];
  const pools: Pool[] = [];
  async function start(kind: "raw" | "trivet"): Promise<Server> {
    const file = fileURLToPath(new URL("./http_server.ts", import.meta.url));
    const child = spawn(process.execPath, [file, kind], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    const port = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once("line", resolve);
      child.once("exit", () => reject(new Error(`The ${kind} server exited before it listened`)));
    });
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
    pools.push(pool);
    return { pid: child.pid!, pool };
  }
  const raw = await start("raw");
  const trivet = await start("trivet");

  const subject = (
    name: string,
    { pid, pool }: Server,
    method: "GET" | "POST",
    path: string,
    body: string | undefined,
    type: string,
    baseline?: string,
  ): Subject => ({
    name,
    ...(baseline !== undefined && { baseline }),
    concurrency: CONNECTIONS,
    processorTime: () => Promise.resolve(readProcessorTime(pid)),
    prepare: async () => async () => {
      const headers = body === undefined ? {} : { "content-type": type };
      const response = await pool.request({ method, path, headers, body: body ?? null });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`${name}: status ${response.statusCode}`);
    },
  });
  const json = "application/json";
  const credentials = "grant_type=client_credentials&client_id=app&client_secret=secret&scope=read";
  return {
    subjects: [
      subject(RAW_GET, raw, "GET", "/", undefined, json),
      subject(RAW_POST, raw, "POST", "/mcp", CALL, json),
      subject(
        "GET metadata document",
        trivet,
        "GET",
        "/.well-known/oauth-authorization-server",
        undefined,
        json,
        RAW_GET,
      ),
      subject("POST MCP tools/call", trivet, "POST", "/mcp", CALL, json, RAW_POST),
      subject(
        "POST client_credentials, opaque",
        trivet,
        "POST",
        "/oauth/token",
        credentials,
        "application/x-www-form-urlencoded",
        RAW_POST,
      ),
    ],
    async stop() {
      await Promise.all(pools.map((pool) => pool.destroy()));
      for (const child of children) child.kill("SIGKILL");
    },
  };
}
