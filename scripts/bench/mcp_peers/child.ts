/**
 * One of the compared servers as a process of its own: `node child.ts FILE MODE TOOLS OPTION`. In mode `calls` it calls
 * its own handlers when the parent says; in mode `stdio` it serves standard input and output; a mode that is the name of
 * a variant serves that over HTTP and prints its port.
 *
 * @module
 */
import process from "node:process";
import type { Slice, Sliced } from "./slice.ts";
import type { Server, Variant } from "./subject.ts";

/** What the parent asks: for the processor time used so far, in microseconds, for the memory in use, or for calls. */
export type Question = "processorTime" | "memory" | Slice;
export type Reply = number | Memory | Sliced;

/** Bytes. */
export interface Memory {
  readonly heap: number;
  readonly resident: number;
}

const [file, mode, count, option] = process.argv.slice(2);
const { server }: { server(option?: string): Server } = await import(`./${file}`);
const subject = server(option);
const tools = Number(count);

async function answer(question: Question): Promise<Reply> {
  if (question === "processorTime") {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
  return question === "memory" ? await memory() : await slice!(question);
}

/** After everything that can be collected has been. */
async function memory(): Promise<Memory> {
  for (let i = 0; i < 4; i++) {
    (globalThis as { gc?(): void }).gc!();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss };
}

// Only who calls needs what calls: it would take a part of the time to start.
const slice = mode === "calls" ? (await import("./called.ts")).callingHandlers(subject) : undefined;
process.on("message", async (question: Question) => process.send!(await answer(question)));
process.on("disconnect", () => process.exit());

if (mode === "calls") process.send!("ready");
else if (mode === "stdio") {
  if (!subject.serveStdio) process.exit();
  await subject.serveStdio(tools);
} else {
  const variant = mode as Variant;
  const isOffered = (await subject.handlers(1, "http://127.0.0.1"))[variant] !== undefined;
  process.send!(
    isOffered
      ? await subject.listen(async (origin) => (await subject.handlers(tools, origin))[variant]!)
      : -1,
  );
}
