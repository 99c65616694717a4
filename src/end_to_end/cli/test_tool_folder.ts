/**
 * A folder of a user who writes tools, where only "trivet" and "valibot" are installed. Only tests import this.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { CLI, type Outcome, runtimeCommand, temporaryFolder } from "../test_process.ts";

export interface ToolFolder {
  readonly path: string;
  /** Writes a file, and the folders above it. Returns its path. */
  write(name: string, text: string): string;
  remove(): void;
}

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** @param trivet the folder of the installed package. @default that of the sources */
export function toolFolder(trivet: string = ROOT): ToolFolder {
  const { path, remove } = temporaryFolder();
  mkdirSync(join(path, "node_modules"));
  symlinkSync(trivet, join(path, "node_modules/trivet"), "junction");
  symlinkSync(join(ROOT, "node_modules/valibot"), join(path, "node_modules/valibot"), "junction");
  return {
    path,
    remove,
    write(name, text) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
  };
}

/** The environment of this process with these variables, and without other variables of Trivet. */
export function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { TRIVET_TOKEN: _, TRIVET_SCOPES: __, TRIVET_DATA: ___, TRIVET_STORE: ____, ...own } = process.env;
  return { ...own as Record<string, string>, ...more };
}

/** The command that starts `trivet stdio` with these arguments. @param cli the file of the command */
export function stdioCommand(
  args: readonly string[],
  cli: string = CLI,
): { command: string; args: string[] } {
  const [command, before] = runtimeCommand();
  return { command, args: [...before, cli, "stdio", ...args] };
}

/** Sends requests to `trivet stdio` and closes its input. Returns the results or errors in the order of the requests. */
export async function exchange(
  args: readonly string[],
  requests: readonly { readonly method: string; readonly params?: unknown }[],
  { cwd, env, cli }: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly cli?: string;
  } = {},
): Promise<Outcome & { readonly results: readonly unknown[] }> {
  const server = stdioCommand(args, cli);
  const child = spawn(server.command, server.args, {
    stdio: "pipe",
    env: environment(env),
    ...(cwd !== undefined && { cwd }),
  });
  let stdout = "";
  let stderr = "";
  const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
  child.stdout.on("data", (chunk) => stdout += chunk);
  child.stderr.on("data", (chunk) => stderr += chunk);
  child.stdin.on("error", () => {});
  child.stdin.end(
    requests.map((request, id) => JSON.stringify({ jsonrpc: "2.0", id, ...request }) + "\n").join(""),
  );
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearTimeout(late);
  const results: unknown[] = [];
  for (const line of stdout.split("\n").filter((line) => line !== "")) {
    const { id, result, error } = JSON.parse(line);
    results[id] = result ?? error;
  }
  return { code, stdout, stderr, results };
}
