/**
 * The example methods of JSON-RPC over stdio: one message or batch per line.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { respondTo } from "./example_methods.ts";

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await respondTo(line);
  if (answer !== undefined) process.stdout.write(`${answer}\n`);
}
