/**
 * Asks questions on standard error, and reads the answers line by line from standard input.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";

/** Asks one question at a time. */
export interface Asker {
  /** The line that was typed. @throws {Error} when standard input has ended, or the signal aborts */
  ask(question: string, signal: AbortSignal): Promise<string>;
  /** Prints a line without asking. */
  tell(text: string): void;
}

/** Opens standard input with the first question. The terminal edits lines, so that Ctrl-C stays a signal. */
export function openAsker(): Asker & { close(): void } {
  let lines: AsyncIterator<string> | undefined;
  let input: ReturnType<typeof createInterface> | undefined;
  return {
    async ask(question, signal) {
      input ??= createInterface({ input: process.stdin, terminal: false });
      lines ??= input[Symbol.asyncIterator]();
      process.stderr.write(question);
      const { value, done } = await withSignal(lines.next(), signal);
      if (done) throw new Error("standard input has ended before all questions were answered");
      return value;
    },
    tell: (text) => void process.stderr.write(`${text}\n`),
    close() {
      input?.close();
      // Otherwise a terminal keeps the process.
      if (input) process.stdin.unref?.();
    },
  };
}

async function withSignal<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  let onAbort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
