/**
 * How long a search takes with many tools, and how long the event loop waits while programs run.
 *
 * @module
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import { createSearchIndex, type Fields } from "../../src/gateway/search/search_index.ts";
import { quickJs } from "../../src/runtime/code/code_mode.ts";

export async function measureSearch(documents: readonly Fields[], queries: readonly string[]): Promise<void> {
  console.log("A search, in milliseconds");
  for (const size of [documents.length, 1000, 5000]) {
    // Copies have names of their own, so that words stay as rare as in a real list.
    const many = Array.from({ length: size }, (_, at): Fields => {
      const of = documents[at % documents.length]!;
      return { ...of, name: `${of.name}_${Math.floor(at / documents.length)}` };
    });
    const since = performance.now();
    const { search } = await createSearchIndex(many);
    const built = performance.now() - since;
    for (const query of queries) search(query, 5, () => true);
    const times = queries.map((query) => {
      const before = process.cpuUsage();
      for (let i = 0; i < 20; i++) search(query, 5, () => true);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 20_000;
    }).sort((a, b) => a - b);
    const at = (part: number) => times[Math.floor((times.length - 1) * part)]!.toFixed(2);
    console.log(`  ${size} tools: median ${at(0.5)}, p99 ${at(0.99)}; the index ${built.toFixed(0)}`);
  }
}

const HOSTILE: readonly string[] = [
  "for (;;);",
  "while (true) await null",
  "String.raw({ raw: { length: 2 ** 40 } })",
  "const a = []; for (;;) a.push(new Array(1000).fill(1))",
  "for (let i = 0; i < 1e6; i++) tools.x().catch(() => {})",
  "for (;;) console.log('x'.repeat(1e6))",
];

export async function measureEventLoop(): Promise<void> {
  console.log(
    "Longest delay of the event loop, and processor time of its thread in the whole run, in milliseconds",
  );
  const engine = quickJs();
  const limits = {
    computeMs: 1000,
    memoryBytes: 32 * 1024 * 1024,
    calls: 100,
    resultBytes: 65_536,
    logBytes: 16_384,
  };
  const start = async (source: string): Promise<void> => {
    await engine.run({ source, seed: 1, now: 0, limits }, {
      request: (request) => request.settle(true, "1"),
      onIdle() {},
      onLog() {},
    }, new AbortController().signal);
  };
  await start("return 1");
  const measure = async (name: string, run: () => Promise<unknown>): Promise<void> => {
    const delays = monitorEventLoopDelay({ resolution: 1 });
    delays.enable();
    const before = process.threadCpuUsage();
    const since = performance.now();
    await run();
    const elapsed = performance.now() - since;
    delays.disable();
    const { user, system } = process.threadCpuUsage(before);
    // The delay contains the time in which other processes had the processor; the thread's own time does not.
    const own = (user + system) / 1000;
    console.log(
      `  ${name}: ${(delays.max / 1e6).toFixed(1)}; own time ${own.toFixed(0)} of ${elapsed.toFixed(0)}`,
    );
  };
  await measure("no program", () => new Promise((resolve) => setTimeout(resolve, 1000)));
  await measure("return 1", () => start("return 1"));
  for (const source of HOSTILE) await measure(source, () => start(source));
}
