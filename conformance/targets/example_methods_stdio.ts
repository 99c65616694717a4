/**
 * The example methods of JSON-RPC on standard input and output: one message or batch a line.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { answerText } from "./example_methods.ts";

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await answerText(line);
  if (answer !== undefined) process.stdout.write(`${answer}\n`);
}
