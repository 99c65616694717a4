/**
 * Entry point of the process of a compared server: `node child.ts FILE MODE TOOLS OPTION`. In mode `calls` it calls its own
 * handlers when the parent requests it; in mode `stdio` it serves standard input and output; in a mode with the name of a
 * variant it serves the variant over HTTP and sends its port.
 *
 * @module
 */
import process from "node:process";
import type { Slice, SliceResult } from "./call_handlers.ts";
import type { Server, Variant } from "./subject.ts";

/** A command of the parent: return the microseconds of processor time used so far, return the memory in use, or run calls. */
export type Command = "processorTime" | "memory" | Slice;
export type Reply = number | Memory | SliceResult;

/** Bytes. */
export interface Memory {
  readonly heap: number;
  readonly resident: number;
}

const [file, mode, count, option] = process.argv.slice(2);
const { server }: { server(option?: string): Server } = await import(`./${file}`);
const subject = server(option);
const tools = Number(count);

async function execute(command: Command): Promise<Reply> {
  if (command === "processorTime") {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
  return command === "memory" ? await measureMemory() : await runSlice!(command);
}

/** Measures the memory after garbage collection. */
async function measureMemory(): Promise<Memory> {
  for (let i = 0; i < 4; i++) {
    (globalThis as { gc?(): void }).gc!();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss };
}

// Loaded only in this mode, because loading it would count for the start of a server.
const runSlice = mode === "calls"
  ? (await import("./call_handlers.ts")).createHandlerCalls(subject)
  : undefined;
process.on("message", async (command: Command) => process.send!(await execute(command)));
process.on("disconnect", () => process.exit());

if (mode === "calls") process.send!("ready");
else if (mode === "stdio") {
  if (!subject.serveStdio) process.exit();
  await subject.serveStdio(tools);
} else {
  process.send!(await listen(mode as Variant) ?? -1);
}

/** Resolves to the port, or to `undefined` if the server does not support the variant. */
async function listen(variant: Variant): Promise<number | undefined> {
  if (subject.listenItself) return await subject.listenItself(variant, tools);
  const isSupported = (await subject.handlers(1, "http://127.0.0.1"))[variant] !== undefined;
  return isSupported
    ? await subject.listen(async (origin) => (await subject.handlers(tools, origin))[variant]!)
    : undefined;
}
