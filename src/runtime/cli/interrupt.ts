/**
 * Work that Ctrl-C interrupts: it undoes what is half done, then the process exits with the code of an interrupted one. A
 * second signal ends the process at once.
 *
 * @module
 */
import process from "node:process";
import { printError } from "./output.ts";

/**
 * Signals that ask a process to end, with 128 plus their number, as shells define it. SIGHUP says that the terminal was
 * closed.
 */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Calls `stop` at the first signal, and `stopNow` at a second one, each with the code to exit with. The function returned
 * ends this.
 */
export function onStopSignals(stop: (code: number) => void, stopNow: (code: number) => void): () => void {
  let isStopping = false;
  const listeners = Object.entries(EXIT_CODES).map(([signal, code]) => {
    const listener = () => {
      // When a terminal is closed, both the system and the shell send SIGHUP: the second one is no impatience.
      if (isStopping) return signal === "SIGHUP" ? undefined : stopNow(code);
      isStopping = true;
      stop(code);
    };
    process.on(signal, listener);
    return [signal, listener] as const;
  });
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}

/** How long work can take to end after a signal: to complete a change with its audit record, or to undo what is half done. */
const MAX_END_MS = 3000;

/**
 * Runs work that observes the signal. Exits the process when the work was interrupted before its end, and also when it has
 * not ended a while after the signal: it may wait for a database that does not answer.
 */
export async function interruptible<Result>(
  name: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let code: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const stopListening = onStopSignals((first) => {
    code = first;
    const reason = new Error("interrupted");
    controller.abort(reason);
    timer = setTimeout(() => reject(reason), MAX_END_MS);
  }, () => process.exit(code));
  try {
    return await Promise.race([work(controller.signal), late]);
  } catch (error) {
    if (code === undefined) throw error;
    printError(`trivet ${name}: interrupted`);
    return process.exit(code);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

/**
 * Ends the process at the first signal, after `undo`: for work that observes no `AbortSignal`. A signal waits for the next
 * turn of the event loop, and calls of SQLite make none. The function returned ends this.
 */
export function exitOnSignals(undo: () => void): () => void {
  return onStopSignals((code) => {
    undo();
    process.exit(code);
  }, process.exit);
}
