/**
 * Kills the processes of a gateway's upstreams at random while calls run, over stdio and over HTTP, and then counts what is
 * left. Servers over HTTP start again on their port. At the command line it runs for as long as you say, in which the time
 * of the upstreams is 200 times as long:
 *
 *   node --expose-gc scripts/faults/soak_gateway.ts --minutes 10 [--upstreams 20]
 *
 * @module
 */
import * as assert from "uvu/assert";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { callContext } from "../../src/gateway/upstream/test_scripted_client.ts";
import { createUpstreams } from "../../src/gateway/upstream/upstreams.ts";
import type { ToolDefinition } from "../../src/mcp/definition/definition.ts";
import { useFetch } from "../../src/http/network/default_fetch.ts";
import { launchProcess } from "../../src/runtime/launch_process.ts";
import { nodeFetch } from "../../src/runtime/node/node_fetch.ts";

export interface SoakOptions {
  /** Over stdio, and as many over HTTP. */
  readonly upstreams: number;
  /** Ends after so many kills, or after so many milliseconds. */
  readonly kills: number;
  readonly duration: number;
  /** Calls that run at a time. */
  readonly concurrency: number;
}

export interface SoakResult {
  readonly kills: number;
  readonly calls: number;
  /** Results; the other calls failed with an error that names the upstream. */
  readonly answered: number;
  /** Bytes of heap, after the first quarter of the kills and at the end. */
  readonly heap: readonly [early: number, late: number];
  /** Handles of the process that the soak left: timers, pipes, child processes. */
  readonly leftHandles: readonly string[];
  /** Ids of processes that still run. */
  readonly leftProcesses: readonly number[];
}

const SERVER = fileURLToPath(new URL("soak_gateway_server.ts", import.meta.url));
/** The time of the upstreams runs faster, so that pauses of a minute take less. */
const SPEED = 200;

/** A server over HTTP that starts again when it is killed. */
class HttpServer {
  readonly url: string;
  readonly #port: number;
  #child: ChildProcess;

  constructor(port: number) {
    this.url = `http://127.0.0.1:${port}/mcp`;
    this.#port = port;
    this.#child = this.#start();
  }

  #start(): ChildProcess {
    return spawn(process.execPath, [SERVER, String(this.#port)], { stdio: "ignore" });
  }

  /** Resolves when it listens. */
  async ready(): Promise<void> {
    for (;;) {
      const socket = connect(this.#port, "127.0.0.1");
      const isOpen = await new Promise((resolve) =>
        socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
      );
      socket.destroy();
      if (isOpen) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(): Promise<void> {
    if (this.#child.kill("SIGKILL")) await once(this.#child, "exit");
  }

  async restart(): Promise<void> {
    await this.stop();
    this.#child = this.#start();
  }
}

/** A port that was free a moment ago. */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** Runs until the kills are done. Starts the process with `--expose-gc` for numbers of the heap. */
export async function soak(
  { upstreams: count, kills, duration, concurrency }: SoakOptions,
): Promise<SoakResult> {
  // As the entries for Node do.
  if (!("Deno" in globalThis) && !("Bun" in globalThis)) useFetch(nodeFetch);
  const handlesBefore = handles();
  const began = performance.now();
  const pids = new Map<number, number>();
  const servers: HttpServer[] = [];
  for (let i = 0; i < count; i++) servers.push(new HttpServer(await findPort()));
  await Promise.all(servers.map((server) => server.ready()));
  const upstreams = createUpstreams({
    mcpServers: Object.fromEntries([
      ...Array.from({ length: count }, (_, i) => [`up${i}`, { command: process.execPath, args: [SERVER] }]),
      ...servers.map(({ url }, i) => [`up${count + i}`, { type: "http", url }]),
    ]),
    launch: launchProcess,
    startTimeout: 60_000,
    breaker: { now: () => performance.now() * SPEED },
    onStderr(name, line) {
      // Node may write warnings there too.
      if (/^\d+$/.test(line)) pids.set(Number(name.slice(2)), Number(line));
    },
  });
  const result = { kills: 0, calls: 0, answered: 0 };
  let early = 0;
  try {
    await upstreams.ready();
    const tools = upstreams.list(undefined) as readonly ToolDefinition[];
    assert.is(tools.length, 2 * count);
    const isOver = (): boolean => result.kills >= kills || performance.now() - began > duration;
    const caller = async (): Promise<void> => {
      while (!isOver()) {
        const tool = tools[Math.floor(Math.random() * tools.length)]!;
        result.calls++;
        try {
          await tool.run({ a: result.calls }, callContext());
          result.answered++;
        } catch (error) {
          assert.match((error as Error).message, /^Upstream "up\d+" /);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }
    };
    const killer = async (): Promise<void> => {
      while (!isOver()) {
        await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 20));
        if (Math.random() < 0.5) await servers[Math.floor(Math.random() * count)]!.restart();
        else {
          const [name, pid] = [...pids][Math.floor(Math.random() * pids.size)] ?? [];
          if (pid === undefined || !pids.delete(name!)) continue;
          process.kill(pid, "SIGKILL");
        }
        result.kills++;
        const part = Math.max(result.kills / kills, (performance.now() - began) / duration);
        if (early === 0 && part >= 0.25) early = heap();
      }
    };
    await Promise.all([killer(), ...Array.from({ length: concurrency }, caller)]);
  } finally {
    await upstreams.close();
    for (const server of servers) await server.stop();
  }
  // Pipes close after their process.
  for (let i = 0; i < 200 && difference(handles(), handlesBefore).length > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    ...result,
    heap: [early, heap()],
    leftHandles: difference(handles(), handlesBefore),
    leftProcesses: childProcesses(),
  };
}

function heap(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
}

/** What keeps this process alive. */
const handles = (): string[] => process.getActiveResourcesInfo();

function difference(all: readonly string[], known: readonly string[]): string[] {
  const rest = [...known];
  return all.filter((each) => {
    const at = rest.indexOf(each);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** The processes that run the server of the soak and were started by this process. */
function childProcesses(): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    return parent === process.pid && line.includes("soak_gateway_server") ? [pid!] : [];
  });
}

if (process.argv[1]?.endsWith("soak_gateway.ts")) {
  const { values } = parseArgs({
    options: { minutes: { type: "string", default: "1" }, upstreams: { type: "string", default: "8" } },
  });
  const result = await soak({
    upstreams: Number(values.upstreams),
    kills: Infinity,
    duration: Number(values.minutes) * 60_000,
    concurrency: 16,
  });
  console.log(JSON.stringify(result, null, 2));
  const [early, lateHeap] = result.heap;
  // The heap of a process that leaks grows with each kill.
  const grows = lateHeap - early > 20 * 1024 * 1024;
  if (grows || result.leftHandles.length + result.leftProcesses.length > 0) process.exitCode = 1;
}
