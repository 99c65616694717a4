/**
 * One of several instances of a tool server, as a process on the runtime of the tests. As a program:
 * `test_mcp_instance.ts <address of the store> <name> <keepAlive>`. Only tests import this.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  createInstance,
  type Instance,
  type Order,
  type Report,
} from "../../mcp/instances/test_instances.ts";
import { postgresStore } from "../../store/drivers/postgres.ts";
import { redisStore } from "../../store/drivers/redis.ts";
import { runtimeCommand } from "../test_process.ts";

export interface InstanceProcess extends Instance {
  readonly child: ChildProcess;
  /** Its standard error so far. */
  stderr(): string;
  /** Closes server and store. Resolves to the exit code when nothing keeps the process running. */
  close(): Promise<number | string | null>;
  /** Sends SIGKILL. */
  kill(): Promise<unknown>;
}

/** Ignores that a signal aborts after its response: its listeners are gone by then. */
const DENO_WARNING = /^Deno\.serve: request\.signal aborts on successful responses.*\n/m;

/** Starts an instance and waits until it listens. */
export async function startInstance(
  address: string,
  name: string,
  keepAlive: number = 15_000,
): Promise<InstanceProcess> {
  const [command, before] = runtimeCommand();
  const program = fileURLToPath(import.meta.url);
  const child = spawn(command, [...before, program, address, name, String(keepAlive)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => stderr += chunk);
  const ended = new Promise<number | string | null>((resolve) =>
    child.on("close", (code, signal) => resolve(signal ?? code))
  );
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    ended.then((code) => reject(new Error(`The instance exited with ${code}: ${stderr}`)));
  });
  const order = async (order: Order | { do: "close" }): Promise<Report> => {
    const response = await fetch(`${url}/order`, { method: "POST", body: JSON.stringify(order) });
    return await response.json();
  };
  return {
    name,
    child,
    order,
    fetch: (path, init) => fetch(url + path, init),
    stderr: () => stderr.replace(DENO_WARNING, ""),
    async close() {
      await order({ do: "close" });
      const late = setTimeout(() => child.kill("SIGKILL"), 5000);
      return await ended.finally(() => clearTimeout(late));
    },
    kill() {
      // By number: Deno's `child.kill()` reports the signal instead of the exit code of a process that handles it.
      process.kill(child.pid!, "SIGKILL");
      return ended;
    },
  };
}

async function runInstance(address: string, name: string, keepAlive: number): Promise<void> {
  const store = address.startsWith("postgres") ? postgresStore(address) : redisStore(address);
  const instance = createInstance(store, name, { keepAlive });
  const entry = "Deno" in globalThis
    ? await import("../../runtime/deno.ts")
    : "Bun" in globalThis
    ? await import("../../runtime/bun.ts")
    : await import("../../runtime/node.ts");
  const running = await entry.serve({
    async fetch(request, context) {
      if (new URL(request.url).pathname !== "/order") return await instance.server.fetch(request, context);
      const order = await request.json() as Order | { do: "close" };
      if (order.do === "close") setTimeout(close, 10);
      return Response.json(await instance.order(order.do === "close" ? { do: "end_streams" } : order));
    },
  }, { port: 0, closeTimeout: 1000 });
  // Without process.exit(): the process must end when nothing is left to do.
  async function close(): Promise<void> {
    await running.close();
    await store.close();
  }
  // deno-lint-ignore no-console
  console.log(running.url);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [address, name, keepAlive] = process.argv.slice(2);
  await runInstance(address!, name!, Number(keepAlive));
}
