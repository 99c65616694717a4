/**
 * Stops a server in an orderly way: streams that wait for changes end, and their clients come back to another one; requests
 * and tool calls finish. When the time is over, those that still run end with an error, and all connections are closed.
 *
 * @module
 */
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
import type { Trivet } from "../../../trivet.ts";
import type { FetchHandler, RunningServer } from "../../server.ts";
import { onStopSignals } from "../interrupt.ts";

/** How long before all connections are closed requests that still run get their error. */
const STOP_CALLS_MS = 500;
/** How long the process may go on by itself after its work is done. */
const EXIT_DELAY_MS = 1000;

/**
 * Resolves at the first signal to stop; a second one ends the process at once.
 * @param isStarting while it is true, the first ends the process too: a start may wait for a module without an end
 */
export function stopOnSignal(isStarting: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    // While it starts, nothing was answered yet.
    onStopSignals(() => isStarting() ? process.exit(0) : resolve(), () => process.exit(1));
  });
}

/** A handler that knows its requests without a response. */
export interface TrackedHandler extends FetchHandler {
  /** Answers them with 503: the process ends before their handlers do. */
  answerRest(): void;
}

export function trackRequests(handler: FetchHandler): TrackedHandler {
  const waiting = new Set<(response: Response) => void>();
  return {
    fetch(request, context) {
      const answer = handler.fetch(request, context);
      if (!(answer instanceof Promise)) return answer;
      return new Promise((resolve, reject) => {
        waiting.add(resolve);
        answer.then((response) => {
          waiting.delete(resolve);
          resolve(response);
        }, (error) => {
          waiting.delete(resolve);
          reject(error);
        });
      });
    },
    answerRest() {
      for (const answer of waiting) answer(stoppedResponse());
    },
  };
}

function stoppedResponse(): Response {
  const body = {
    error: "temporarily_unavailable",
    error_description: "The server stopped before it answered. Send the request again",
  };
  return Response.json(body, { status: 503, headers: { "retry-after": "1", "cache-control": "no-store" } });
}

/** Accepts no more connections, and resolves when those that are open have ended. @param timeoutMs its `closeTimeout` */
export async function finishRequests(
  server: RunningServer,
  handler: TrackedHandler,
  mcp: Trivet["mcp"],
  timeoutMs: number,
): Promise<void> {
  // These streams do not end by themselves: the server would wait for them.
  mcp?.close();
  const late = setTimeout(() => {
    // A client that cannot be reached finds out at another instance when the lease of the call ends.
    mcp?.stopCalls().catch(() => {});
    handler.answerRest();
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
