/**
 * Runs `trivet` in the process of the tests, which is faster than a process of its own, and captures its output. Only
 * tests import this.
 *
 * @module
 */
import process from "node:process";
import { main } from "../../runtime/cli/main.ts";

/** What a command printed, and its exit code. */
export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command. One at a time: a process has one standard output.
 * @param variables environment variables; those that are `undefined` are not set
 */
export async function runCommand(
  args: readonly string[],
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<CommandOutcome> {
  const { stdout, stderr, env } = process;
  const captured = { stdout: "", stderr: "" };
  const written = { stdout: stdout.write, stderr: stderr.write };
  const before = Object.keys(variables).map((name) => [name, env[name]] as const);
  stdout.write = (text: string | Uint8Array) => (captured.stdout += text, true);
  stderr.write = (text: string | Uint8Array) => (captured.stderr += text, true);
  setVariables(Object.entries(variables));
  try {
    return { code: await main(args), ...captured };
  } finally {
    stdout.write = written.stdout;
    stderr.write = written.stderr;
    setVariables(before);
  }
}

function setVariables(variables: readonly (readonly [string, string | undefined])[]): void {
  for (const [name, value] of variables) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
