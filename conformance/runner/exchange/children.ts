/**
 * Programs that a run starts: servers, procedures. Each leads a group of its own, so that what it starts ends with it, and
 * none outlives the run.
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

const living = new Set<ChildProcess>();

/** @param stdio what to do with standard input, output and error */
export function start(
  { command: [program = "", ...args], env, cwd }: Command,
  stdio: readonly [Stream, Stream, Stream],
): ChildProcess {
  const child = spawn(program, args, {
    stdio: [...stdio],
    env: { ...process.env, ...env },
    ...(cwd && { cwd }),
    // Windows has no groups, and would open a window.
    detached: process.platform !== "win32",
  });
  living.add(child);
  child.once("error", () => {
    if (child.pid === undefined) living.delete(child);
  });
  return child;
}

/** Sends a signal to a program and all that it started. */
export function signal(child: ChildProcess, name: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, name);
  } catch {
    // It is gone already.
  }
}

/** Ends a program that has to go: whatever of its group is left goes with it. */
export function finish(child: ChildProcess): void {
  signal(child, "SIGKILL");
  living.delete(child);
}

/** The same, but with a second for what it has started in groups of their own, as browsers are. */
export function finishSoon(child: ChildProcess): void {
  signal(child, "SIGTERM");
  const late = setTimeout(() => finish(child), 1000);
  late.unref?.();
}

/** Ends all that a run has started. */
export function finishAll(): void {
  for (const child of living) finish(child);
}

/** It has ended, or was never there. */
export function isOver({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
