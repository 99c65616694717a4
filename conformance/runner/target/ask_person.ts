/**
 * Asks the person at the terminal: one question at a time, each question once.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { NotClaimed } from "../outcome.ts";
import { hideProgress } from "../report/progress.ts";

const answers = new Map<string, Promise<string>>();
let last: Promise<unknown> = Promise.resolve();

/** @throws {NotClaimed} without a terminal */
export async function askPerson(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new NotClaimed("a person at the terminal");
  const earlier = answers.get(question);
  if (earlier) return await earlier;
  const answer = last.then(() => ask(question));
  answers.set(question, answer);
  last = answer.catch(() => {});
  return await answer;
}

async function ask(question: string): Promise<string> {
  hideProgress();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`\n${question}\n> `)).trim();
  } finally {
    terminal.close();
  }
}
