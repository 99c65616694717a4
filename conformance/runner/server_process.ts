/**
 * A server that is started for a run and ended after it.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { exchange, type Sender } from "./exchange.ts";
import type { StdioCommand } from "./send_stdio.ts";

/** A command whose folder is seen from another. */
export function inFolder<C extends StdioCommand>(command: C, folder: string): C {
  return { ...command, cwd: join(folder, command.cwd ?? ".") };
}

export function startServer({ command: [program = "", ...args], env, cwd }: StdioCommand): ChildProcess {
  const child = spawn(program, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...env },
    ...(cwd && { cwd }),
  });
  child.on("error", (error) => process.stderr.write(`Cannot start "${program}": ${error.message}\n`));
  return child;
}

export async function stopServer(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 3000);
  await gone;
  clearTimeout(late);
}

const START_SECONDS = 30;

/** Waits for any answer. @throws {Error} when none comes */
export async function untilReady(sender: Sender, url: string): Promise<void> {
  const outgoing = {
    method: "GET",
    url,
    fields: [],
    without: [],
    body: undefined,
    raw: false,
    wire: undefined,
  };
  const end = performance.now() + START_SECONDS * 1000;
  while (true) {
    try {
      await exchange(sender, outgoing, { seconds: 2, bytes: 16 << 20 });
      return;
    } catch (error) {
      if (performance.now() > end) {
        throw new Error(`Cannot open the target: nothing answered at ${url} within ${START_SECONDS} s`, {
          cause: error,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
