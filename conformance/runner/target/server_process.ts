/**
 * Starts a server before a run and ends it afterwards.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { type Command, hasExited, killGroup, signalGroup, spawnChild } from "../exchange/child_processes.ts";
import { exchange, type Sender } from "../exchange/exchange.ts";

export interface StartCommand extends Command {
  /** Path that responds when the server is ready. */
  readonly ready?: string;
  /** Time limit of the start. */
  readonly seconds?: number;
}

/** Resolves the working folder of a command against another folder. */
export function resolveCwd<C extends Command>(command: C, folder: string): C {
  return { ...command, cwd: join(folder, command.cwd ?? ".") };
}

const DEFAULT_START_SECONDS = 30;
const MAX_STOP_SECONDS = 3;
/** How much of standard error is kept for error messages. */
const MAX_STDERR_CHARACTERS = 2000;

export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #command: StartCommand;
  readonly #exit: Promise<void>;
  #stderr = "";
  #failure: string | undefined;
  #isEnding = false;

  constructor(command: StartCommand) {
    this.#command = command;
    this.#child = spawnChild(command, ["ignore", "ignore", "pipe"]);
    this.#child.stderr!.on(
      "data",
      (chunk) => this.#stderr = (this.#stderr + chunk).slice(-MAX_STDERR_CHARACTERS),
    );
    this.#exit = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#failure = `could not be started: ${error.message}`;
        resolve();
      });
      this.#child.once("exit", (code, signalName) => {
        // A program may start the server in the background and exit with 0.
        if (code !== 0) this.#failure = `ended with ${code === null ? signalName : `exit code ${code}`}`;
        resolve();
      });
    });
  }

  /** Waits for any response. @throws {Error} with the standard error of the server if none arrives */
  async waitUntilReady(sender: Sender, base: string): Promise<void> {
    const url = new URL(this.#command.ready ?? "/", base).href;
    const { seconds = DEFAULT_START_SECONDS } = this.#command;
    const common = { fields: [], without: [], body: undefined, raw: false, wire: undefined };
    const end = performance.now() + seconds * 1000;
    while (true) {
      let answered = true;
      try {
        await exchange(sender, { method: "GET", url, ...common }, { seconds: 2, bytes: 16 << 20 });
      } catch {
        answered = false;
      }
      if (this.#failure !== undefined) {
        // The response then comes from another server on this port.
        throw this.#error(this.#failure + (answered ? `; another server responds at ${url}` : ""));
      }
      if (answered) break;
      if (performance.now() > end) throw this.#error(`did not respond at ${url} within ${seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    void this.#exit.then(() => {
      if (this.#failure !== undefined && !this.#isEnding) {
        process.stderr.write(`${this.#error(`${this.#failure} during the run`).message}\n`);
      }
    });
  }

  async stop(): Promise<void> {
    this.#isEnding = true;
    if (!hasExited(this.#child)) {
      signalGroup(this.#child, "SIGTERM");
      const killTimer = setTimeout(() => signalGroup(this.#child, "SIGKILL"), MAX_STOP_SECONDS * 1000);
      await this.#exit;
      clearTimeout(killTimer);
    }
    killGroup(this.#child);
  }

  #error(why: string): Error {
    const stderr = this.#stderr.trim();
    const command = this.#command.command.join(" ");
    return new Error(
      `Cannot start the target: "start" (${command}) ${why}${
        stderr === "" ? "" : `. Its standard error:\n${stderr}`
      }`,
    );
  }
}
