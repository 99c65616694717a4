/**
 * Keeps standard output for the messages of a protocol: what a module of tools writes to it goes to standard error.
 * Writes to file descriptor 1 itself still reach the client: `fs.writeSync(1, …)`, and programs that are started with
 * `stdio: "inherit"`. No runtime can move a descriptor, and the socket that many clients pass cannot be opened anew.
 *
 * @module
 */
import { Console } from "node:console";
import process from "node:process";
import type { NodeOutput } from "../../mcp/stdio/line_writer.ts";

/** Redirects standard output to standard error from now on. Returns the only way to standard output that is left. */
export function reserveStdout(): NodeOutput {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  globalThis.console = new Console(stderr, stderr);
  stdout.write = stderr.write.bind(stderr);
  // It would close standard output.
  stdout.end = ((...given: unknown[]) => {
    const [text] = given;
    if (typeof text === "string" || text instanceof Uint8Array) stderr.write(text);
    const onEnd = given.findLast((each) => typeof each === "function") as (() => void) | undefined;
    if (onEnd) queueMicrotask(onEnd);
    return stdout;
  }) as typeof stdout.end;
  // Deno and Bun have a second object for it.
  const { Deno, Bun } = globalThis as { Deno?: RuntimeOutput; Bun?: RuntimeOutput };
  for (const runtime of [Deno, Bun]) {
    if (runtime) Object.defineProperty(runtime, "stdout", { value: runtime.stderr });
  }
  return { write, on: (event, onError) => stdout.on(event, onError) };
}

interface RuntimeOutput {
  readonly stderr: unknown;
}
