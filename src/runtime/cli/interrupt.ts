/**
 * Work that Ctrl-C interrupts: it undoes what is half done, then the process exits with the code of an interrupted one. A
 * second signal ends the process at once.
 *
 * @module
 */
import process from "node:process";
import { printError } from "./output.ts";

/** 128 plus the number of the signal, as shells define it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Runs work that observes the signal. Exits the process when the work was interrupted before its end. */
export async function interruptible<Result>(
  name: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let code: number | undefined;
  const listeners = (["SIGINT", "SIGTERM"] as const).map((signal) => {
    const listener = () => {
      if (code !== undefined) process.exit(code);
      code = EXIT_CODES[signal];
      controller.abort(new Error("interrupted"));
    };
    process.on(signal, listener);
    return [signal, listener] as const;
  });
  try {
    return await work(controller.signal);
  } catch (error) {
    if (code === undefined) throw error;
    printError(`trivet ${name}: interrupted`);
    return process.exit(code);
  } finally {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  }
}

/**
 * Ends the process at the first signal, after `undo`: for work that observes no `AbortSignal`. A signal waits for the next
 * turn of the event loop, and calls of SQLite make none. The function returned ends this.
 */
export function exitOnSignals(undo: () => void): () => void {
  const listeners = Object.entries(EXIT_CODES).map(([signal, code]) => {
    const listener = () => {
      undo();
      process.exit(code);
    };
    process.on(signal, listener);
    return [signal, listener] as const;
  });
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}
