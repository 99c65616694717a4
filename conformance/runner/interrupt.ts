/**
 * The end of the process: interrupts, uncaught errors and errors of the output. The first Ctrl-C ends the run
 * with the report so far, the second at once; processes that the run started end with it. An error that a
 * module target throws outside a request is reported, and the run continues.
 *
 * @module
 */
import process from "node:process";
import { killAllGroups } from "./exchange/child_processes.ts";

/** Shell convention: 128 plus the number of SIGINT. */
export const INTERRUPTED_EXIT_CODE = 130;

/** Aborted when the user interrupts the run (SIGINT, SIGTERM or SIGHUP). */
export function createInterruptSignal(): AbortSignal {
  const leave = new AbortController();
  const stop = () => {
    if (leave.signal.aborted) process.exit(INTERRUPTED_EXIT_CODE);
    leave.abort();
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, stop);
  process.on("exit", killAllGroups);
  return leave.signal;
}

/** Ends the process when the output was written, or cannot be: with 2, because a lost report must not count as a passed run. */
export function exitAfterOutput(error?: Error | null): void {
  // The reader of the output (`head`, say) may close it early.
  if (!error || (error as { code?: string }).code === "EPIPE") process.exit();
  process.stderr.write(`The report cannot be written: ${error.message}\n`);
  process.exit(2);
}

const MAX_REPORTED_ERRORS = 10;

/** Reports errors that a module target throws outside its handler. The function returned says whether there were any. */
export function reportUncaughtErrors(): () => boolean {
  let count = 0;
  const report = (error: unknown) => {
    count++;
    if (count > MAX_REPORTED_ERRORS) return;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`\nUncaught error outside a request: ${message.split("\n")[0]}\n`);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
  return () => count > 0;
}
