/**
 * The process that runs test files on Node, Deno or Bun.
 *
 * @module
 */
import process from "node:process";
import { pathToFileURL } from "node:url";
import { MARK, runFile } from "./run_files.ts";

const say = (message: unknown): void => void process.stdout.write(`\n${MARK}${JSON.stringify(message)}\n`);

for (const file of process.argv.slice(2)) {
  say({ started: file });
  say(await runFile(file, () => import(pathToFileURL(file).href)));
}
// What a test left open must not keep the process.
process.exit(0);
