/**
 * Ctrl-C: the first ends the run with the report so far, the second at once. Whatever the run has started ends with it.
 *
 * @module
 */
import process from "node:process";
import { finishAll } from "./children.ts";

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
