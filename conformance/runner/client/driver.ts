/**
 * Drivers: programs that make a client perform a flow (`clients/README.md`, "A driver").
 *
 * @module
 */
import { killGroup, spawnChild } from "../exchange/child_processes.ts";

/** How a driver ended. */
export interface DriverResult {
  /** Exit code; `undefined` if it did not end in time or by a signal. */
  readonly code: number | undefined;
  readonly isTimeout: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a client against a server. */
export type Driver = (env: Readonly<Record<string, string>>) => Promise<DriverResult>;

/** Exit codes of a driver. */
export const EXIT: Readonly<Record<"accepted" | "refused" | "unsupported", number>> = {
  accepted: 0,
  refused: 3,
  unsupported: 4,
};

/** Limit of the output that is kept. */
const MAX_OUTPUT_CHARACTERS = 20_000;

/** A driver that starts a program. @param command program and arguments @param seconds time limit */
export function createProgramDriver(command: readonly string[], seconds: number): Driver {
  return (env) =>
    new Promise((resolve, reject) => {
      const child = spawnChild({ command, env }, ["ignore", "pipe", "pipe"]);
      const output = { stdout: "", stderr: "" };
      for (const name of ["stdout", "stderr"] as const) {
        child[name]!.setEncoding("utf8").on("data", (chunk: string) => {
          output[name] = (output[name] + chunk).slice(0, MAX_OUTPUT_CHARACTERS);
        });
      }
      let isTimeout = false;
      const timer = setTimeout(() => {
        isTimeout = true;
        killGroup(child);
      }, seconds * 1000);
      child.once("error", (error) => {
        clearTimeout(timer);
        reject(new TypeError(`Cannot start the driver "${command.join(" ")}": ${error.message}`));
      });
      child.once("close", (code) => {
        clearTimeout(timer);
        killGroup(child);
        resolve({ code: code ?? undefined, isTimeout, ...output });
      });
    });
}
