/**
 * Runs `trivet` as a process on the runtime of the tests. Only tests import this.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { sqliteStore } from "../store/drivers/sqlite.ts";

export const CLI: string = fileURLToPath(new URL("../runtime/cli.ts", import.meta.url));

/** The command that runs a file on this runtime, and the arguments before the file. */
export function runtimeCommand(): [string, string[]] {
  return [process.execPath, "Deno" in globalThis ? ["run", "-A", "--no-check", "--quiet"] : []];
}

/** The output and the exit code of a command. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `trivet` with these arguments until it exits. */
export function trivet(
  args: readonly string[],
  { input = "", cwd }: { input?: string | Uint8Array; cwd?: string } = {},
): Promise<Outcome> {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, ...args], {
    stdio: "pipe",
    ...(cwd !== undefined && { cwd }),
  });
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
    child.stdout.on("data", (chunk) => stdout += chunk);
    child.stderr.on("data", (chunk) => stderr += chunk);
    child.on("close", (code) => {
      clearTimeout(late);
      resolve({ code, stdout, stderr });
    });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** What `trivet serve --json` prints. */
export interface Facts {
  readonly issuer: string;
  /** The URL that it listens on; the issuer can be another one. */
  readonly url: string;
  readonly client: { readonly id: string; readonly secret: string | null; readonly redirect_uri: string };
  readonly user: { readonly username: string; readonly password: string | null };
  readonly api_key: string | null;
  readonly mcp: string;
  readonly skills_dir: string;
}

export interface RunningTrivet {
  readonly facts: Facts;
  readonly child: ChildProcess;
  /** Its standard error so far. */
  stderr(): string;
  /** Its standard error so far, without log lines of level info. */
  problems(): string;
  /** Sends a signal and waits for the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `trivet serve --json` on a free port and waits until it listens. */
export async function startTrivet(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningTrivet> {
  const [command, before] = runtimeCommand();
  const child = spawn(command, [...before, CLI, "serve", "--port", "0", "--json", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => stderr += chunk);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const line = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    ended.then((code) => reject(new Error(`trivet serve exited with ${code}: ${stderr}`)));
  });
  return {
    facts: JSON.parse(await line),
    child,
    stderr: () => stderr,
    problems: () => stderr.replace(/^\{"time":"[^"]+","level":"info".*\n/gm, ""),
    stop(signal = "SIGTERM") {
      // By number: Deno's `child.kill()` reports the signal instead of the exit code of a process that handles it.
      process.kill(child.pid!, signal);
      const late = setTimeout(() => child.kill("SIGKILL"), 30_000);
      return ended.finally(() => clearTimeout(late));
    },
  };
}

/** Makes a data folder with an empty store, as `trivet serve` does. Returns its path. */
export async function newDataFolder(path: string): Promise<string> {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  await sqliteStore(join(path, "trivet.db")).close();
  return path;
}

/** An empty folder, and the function that removes it. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "trivet-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
