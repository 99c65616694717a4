/**
 * What ends a run early, and what must not. Ctrl-C: the first ends it with the report so far, the second at once, and
 * whatever the run has started ends with it. A target in this process that fails behind its handler's back is told, and the
 * run goes on.
 *
 * @module
 */
import process from "node:process";
import { finishAll } from "./exchange/children.ts";

/** As shells count: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;

/** A signal that says when the person who runs the kit wants it to end. */
export function interruption(): AbortSignal {
  const leave = new AbortController();
  const stop = () => {
    if (leave.signal.aborted) process.exit(INTERRUPTED);
    leave.abort();
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, stop);
  process.on("exit", finishAll);
  return leave.signal;
}

const MAX_LISTED = 10;

/** Tells of what a target's module throws outside its handler. Gives whether anything was. */
export function survive(): () => boolean {
  let count = 0;
  const tell = (error: unknown) => {
    count++;
    if (count > MAX_LISTED) return;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`\nOutside any answer, the process failed: ${message.split("\n")[0]}\n`);
  };
  process.on("uncaughtException", tell);
  process.on("unhandledRejection", tell);
  return () => count > 0;
}
