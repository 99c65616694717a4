/**
 * Stops a server in an orderly way: streams that wait for changes end, and their clients come back to another one; requests
 * and tool calls finish. When the time is over, calls with a stream end with an error, and all connections are closed.
 *
 * @module
 */
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import type { Trivet } from "../../../trivet.ts";
import type { RunningServer } from "../../server.ts";

/** How long before all connections are closed running calls get their error. */
const STOP_CALLS_MS = 500;
/** How long the process may go on by itself after its work is done. */
const EXIT_DELAY_MS = 1000;

/**
 * Resolves at the first signal to stop; a second one ends the process at once.
 * @param isStarting while it is true, the first ends the process too: a start may wait for a module without an end
 */
export function stopOnSignal(isStarting: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        // Nothing was answered yet.
        if (isStarting()) process.exit(0);
        isStopping = true;
        resolve();
      });
    }
  });
}

/** Accepts no more connections, and resolves when those that are open have ended. @param timeoutMs its `closeTimeout` */
export async function finishRequests(
  server: RunningServer,
  mcp: Trivet["mcp"],
  timeoutMs: number,
): Promise<void> {
  // These streams do not end by themselves: the server would wait for them.
  mcp?.close();
  const late = setTimeout(() => {
    // A client that cannot be reached finds out at another instance when the lease of the call ends.
    mcp?.stopCalls().catch(() => {});
  }, timeoutMs - STOP_CALLS_MS);
  await server.close();
  clearTimeout(late);
}

/**
 * Takes all steps, one after the other, also after one that failed.
 * @throws {Error} for the first step that failed, or when they take longer than the timeout
 */
export async function closeAll(steps: readonly (() => unknown)[], timeoutMs: number): Promise<void> {
  const errors: unknown[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      const what = "the last records of the audit trail may not be written";
      errors.push(new Error(`The store was not closed within ${timeoutMs / 1000} seconds: ${what}`));
      resolve();
    }, timeoutMs);
  });
  const close = async (): Promise<void> => {
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.race([close(), late]);
  clearTimeout(timer);
  if (errors.length === 0) return;
  // What could not be closed keeps the process alive.
  exitSoon();
  throw errors[0];
}

/** Ends the process soon, also when a module left something open that would keep it running: a timer, a connection. */
export function exitSoon(): void {
  setTimeout(() => process.exit(), EXIT_DELAY_MS).unref();
}
