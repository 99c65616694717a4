/**
 * Entry point of the process that runs test files on Node, Deno or Bun. Arguments: the files.
 *
 * @module
 */
import process from "node:process";
import { pathToFileURL } from "node:url";
import { MARK, runFile } from "./run_files.ts";

const send = (message: unknown): void => void process.stdout.write(`\n${MARK}${JSON.stringify(message)}\n`);

for (const file of process.argv.slice(2)) {
  send({ started: file });
  send(await runFile(file, () => import(pathToFileURL(file).href)));
}
// Handles that a test left open must not keep the process running.
process.exit(0);
