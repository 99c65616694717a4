/**
 * Work that Ctrl-C ends in good order: what is half-done is taken back, then the process ends as one that was
 * interrupted. A second signal ends it at once.
 *
 * @module
 */
import process from "node:process";
import { printError } from "./output.ts";

/** 128 and the number of the signal, as shells have it. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Runs work that heeds the signal it is given. Does not return when it was interrupted and did not come to its end. */
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
      controller.abort(new Error("It was interrupted"));
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
