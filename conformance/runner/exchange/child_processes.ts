/**
 * Starts and ends child processes: servers and programs of procedures. Each leads its own process group, so
 * that its children end with it. None outlives the run.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";

export interface Command {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

type Stream = "pipe" | "ignore";

const liveChildren = new Set<ChildProcess>();

/** Starts a program. @param stdio handling of standard input, output and error */
export function spawnChild(
  { command: [program = "", ...args], env, cwd }: Command,
  stdio: readonly [Stream, Stream, Stream],
): ChildProcess {
  const child = spawn(program, args, {
    stdio: [...stdio],
    env: { ...process.env, ...env },
    ...(cwd && { cwd }),
    // Windows has no process groups and would open a window.
    detached: process.platform !== "win32",
  });
  liveChildren.add(child);
  child.once("error", () => {
    if (child.pid === undefined) liveChildren.delete(child);
  });
  return child;
}

/** Sends a signal to a process and its group. */
export function signalGroup(child: ChildProcess, name: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, name);
  } catch {
    // The process has already ended.
  }
}

/** Kills a process and its group. */
export function killGroup(child: ChildProcess): void {
  signalGroup(child, "SIGKILL");
  liveChildren.delete(child);
}

/** Sends SIGTERM, and kills the group a second later, so that a program can end browsers in groups of their own. */
export function killGroupSoon(child: ChildProcess): void {
  signalGroup(child, "SIGTERM");
  const late = setTimeout(() => killGroup(child), 1000);
  late.unref?.();
}

/** Kills every process that the run has started. */
export function killAllGroups(): void {
  for (const child of liveChildren) killGroup(child);
}

/** Whether a process has ended or could not be started. */
export function hasExited({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
