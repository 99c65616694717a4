/**
 * Entry point of the process that runs test files on Node, Deno or Bun. Arguments: the files.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { MARK, runFile } from "./run_files.ts";

/** Writes a message. Resolves when the pipe took it: Deno and Bun write later, and lose the rest when the process exits. */
const send = (message: unknown): Promise<void> =>
  new Promise((resolve) =>
    void process.stdout.write(`\n${MARK}${JSON.stringify(message)}\n`, () => resolve())
  );

/**
 * Processor seconds of this process and of its children that ended, from Linux's `/proc/self/stat` (proc_pid_stat(5), fields
 * 14 to 17, in ticks of 1/100 s); `undefined` on other systems.
 */
function readProcessorSeconds(): number | undefined {
  try {
    const fields = readFileSync("/proc/self/stat", "latin1").replace(/^.*\) /s, "").split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
  } catch {
    return undefined;
  }
}

for (const file of process.argv.slice(2)) {
  await send({ started: file });
  const before = readProcessorSeconds();
  const report = await runFile(file, () => import(pathToFileURL(file).href));
  const after = readProcessorSeconds();
  await send(before === undefined || after === undefined ? report : { ...report, processor: after - before });
}
// Handles that a test left open must not keep the process running.
process.exit(0);
