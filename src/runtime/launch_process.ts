/**
 * Starts MCP servers as child processes, for `processTransport` of `trivet/mcp-client` (Node, Deno and Bun).
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { checkNames, checkWhole, type Names } from "../options/option_check.ts";
import { waitAtMost } from "../http/wait_at_most.ts";
import { timerDelay } from "../timer.ts";
import type { Launch, LaunchedProcess, ProcessEvents } from "../mcp_client/transport.ts";
export type { Launch } from "../mcp_client/transport.ts";

/** How to start a server. */
export interface LaunchOptions {
  /** The program: a path, or a name that is searched in `PATH`. No shell interprets it. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Environment variables besides those that programs need, such as `PATH` and `HOME`. No others are passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** @default the working directory of this process */
  readonly cwd?: string;
  /** Gets standard error, line by line, each shortened to 4096 characters. @default discarded */
  readonly onStderr?: (line: string) => void;
  /** Milliseconds that it may take to end after its input was closed, and again after SIGTERM. @default 2000 */
  readonly closeTimeout?: number;
}

const NAMES: Names<LaunchOptions> = {
  command: "string",
  args: "string[]",
  env: "object",
  cwd: "string",
  onStderr: "function",
  closeTimeout: "number",
};

/**
 * Variables that are passed on: they say where programs and files are, and hold no credentials. `PATHEXT` and what follows
 * exist on Windows.
 */
const PASSED_ON: readonly string[] = [
  "HOME",
  "LANG",
  "LC_ALL",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
  "PATHEXT",
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE",
];

const MAX_STDERR_LINE_CHARACTERS = 4096;
const DEFAULT_CLOSE_MS = 2000;
/** How long output may follow the end of the process, which its children may hold open. */
const OUTPUT_MS = 200;

/** Processes that run, to be ended with this one. */
const running = new Set<ChildProcess>();
let endsWithParent = false;

/** Describes how to start a server. It starts when a client connects. @throws {TypeError} for an option that does not exist */
export function launchProcess(options: LaunchOptions): Launch {
  checkNames("launchProcess", options, NAMES);
  const { command, args = [], closeTimeout = DEFAULT_CLOSE_MS } = options;
  checkWhole("launchProcess.closeTimeout", closeTimeout, 0);
  if (typeof command !== "string" || command === "") {
    throw new TypeError("command must be a non-empty string");
  }
  // Arguments may contain secrets.
  return { name: command, start: (events) => start(options, command, args, events) };
}

function start(
  { env = {}, cwd, onStderr, closeTimeout = DEFAULT_CLOSE_MS }: LaunchOptions,
  command: string,
  args: readonly string[],
  events: ProcessEvents,
): LaunchedProcess {
  const child = spawn(command, [...args], {
    cwd,
    env: { ...readPassedOn(), ...env },
    shell: false,
    windowsHide: true,
    // A process group of its own, so that children of the server are ended too. Windows has none.
    detached: process.platform !== "win32",
    stdio: ["pipe", "pipe", onStderr ? "pipe" : "ignore"],
  });
  const exit = watchExit(child, events);
  const { stdin } = child;
  // Each message that waits has a listener. Above ten of them Node would print a warning about a leak.
  stdin?.setMaxListeners(0);
  child.stdout?.on("data", (chunk: Uint8Array) => events.onOutput(chunk));
  if (onStderr) readStderr(child, onStderr);
  // A process that ended or closed its input: `write` rejects, or the exit is reported.
  child.stdin?.on("error", () => {});
  child.stdout?.on("error", () => {});
  child.stderr?.on("error", () => {});
  let stopping: Promise<void> | undefined;
  return {
    write(text) {
      if (child.pid === undefined) return exit.then(() => Promise.reject(new Error("not started")));
      if (!stdin || stdin.destroyed || stdin.writableEnded) {
        return Promise.reject(new Error("standard input is closed"));
      }
      // Small messages fit into the buffer: nothing to wait for.
      if (stdin.write(text)) return undefined;
      return new Promise((resolve, reject) => {
        const settle = (how: () => void) => (): void => {
          stdin.off("drain", onDrain);
          stdin.off("close", onClose);
          how();
        };
        const onDrain = settle(resolve);
        const onClose = settle(() => reject(new Error("standard input was closed")));
        stdin.on("drain", onDrain);
        stdin.on("close", onClose);
      });
    },
    stop: (isFaulty = false) => stopping ??= stop(child, exit, timerDelay(closeTimeout), isFaulty),
  };
}

/** Reports the end of the process once. Resolves then. */
function watchExit(child: ChildProcess, events: ProcessEvents): Promise<void> {
  return new Promise((resolve) => {
    let isOver = false;
    const end = (description: string, error: Error | undefined): void => {
      if (isOver) return;
      isOver = true;
      running.delete(child);
      events.onExit(description, error);
      resolve();
    };
    child.once("error", (error) => {
      // Without a process id it was not started; otherwise a signal could not be sent.
      if (child.pid === undefined) end(`could not be started (${readCode(error)}). Check the command`, error);
    });
    child.once("spawn", () => endWithParent(child));
    let description = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    child.once("exit", (code, signal) => {
      description = signal ? `was ended by ${signal}` : `exited with code ${code}`;
      signalGroup(child, "SIGTERM");
      // Children may hold the output open.
      timer = setTimeout(() => end(description, undefined), OUTPUT_MS);
    });
    child.once("close", () => {
      clearTimeout(timer);
      if (description !== "") end(description, undefined);
    });
  });
}

/** Closes the input; then SIGTERM, then SIGKILL (basic/lifecycle, shutdown). Children are ended with the process. */
async function stop(
  child: ChildProcess,
  exit: Promise<void>,
  milliseconds: number,
  isFaulty: boolean,
): Promise<void> {
  if (child.pid === undefined) return await exit;
  child.stdin?.end();
  if (isFaulty) child.stdout?.destroy();
  if (isFaulty || await waitAtMost(milliseconds, exit) === "late") {
    signalGroup(child, "SIGTERM");
    if (await waitAtMost(milliseconds, exit) === "late") {
      signalGroup(child, "SIGKILL");
      await exit;
    }
  }
  // Children that ignore SIGTERM, as the process itself has ended.
  signalGroup(child, "SIGKILL");
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Signals the process and its children. */
function signalGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    if (process.platform !== "win32") process.kill(-child.pid!, signal);
    else child.kill(signal);
  } catch {
    // The group has ended.
  }
}

/** When this process exits, those that it started must not stay. */
function endWithParent(child: ChildProcess): void {
  running.add(child);
  if (endsWithParent) return;
  endsWithParent = true;
  process.on("exit", () => {
    for (const each of running) signalGroup(each, "SIGTERM");
  });
}

function readPassedOn(): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of PASSED_ON) {
    const value = process.env[name];
    // Functions that bash exports could run code.
    if (value !== undefined && !value.startsWith("()")) passed[name] = value;
  }
  return passed;
}

function readStderr(child: ChildProcess, onLine: (line: string) => void): void {
  let held = "";
  const give = (line: string): void => {
    if (line !== "") onLine(line.slice(0, MAX_STDERR_LINE_CHARACTERS));
  };
  child.stderr?.setEncoding("utf8");
  child.stderr?.on("data", (text: string) => {
    const lines = text.split(/\r?\n/);
    lines[0] = held + lines[0]!;
    held = lines.pop()!.slice(0, MAX_STDERR_LINE_CHARACTERS);
    for (const line of lines) give(line);
  });
  child.stderr?.on("end", () => give(held));
}

function readCode(error: Error): string {
  return String((error as { code?: unknown }).code ?? error.message);
}
