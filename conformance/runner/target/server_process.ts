/**
 * A server that is started for a run and ended after it.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { type Command, finish, isOver, signal, start } from "../exchange/children.ts";
import { exchange, type Sender } from "../exchange/exchange.ts";

export interface StartCommand extends Command {
  /** Path that answers when the server is ready. */
  readonly ready?: string;
  /** Until then. */
  readonly seconds?: number;
}

/** A command whose folder is seen from another. */
export function inFolder<C extends Command>(command: C, folder: string): C {
  return { ...command, cwd: join(folder, command.cwd ?? ".") };
}

const START_SECONDS = 30;
const STOP_SECONDS = 3;
/** Of its standard error, for whoever has to find out why it is not there. */
const MAX_OUTPUT_CHARACTERS = 2000;

export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #command: StartCommand;
  readonly #exit: Promise<void>;
  #said = "";
  #failure: string | undefined;
  #isEnding = false;

  constructor(command: StartCommand) {
    this.#command = command;
    this.#child = start(command, ["ignore", "ignore", "pipe"]);
    this.#child.stderr!.on(
      "data",
      (chunk) => this.#said = (this.#said + chunk).slice(-MAX_OUTPUT_CHARACTERS),
    );
    this.#exit = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#failure = `cannot be started: ${error.message}`;
        resolve();
      });
      this.#child.once("exit", (code, signalName) => {
        // A program that starts the server and leaves is none the worse.
        if (code !== 0) this.#failure = `ended with ${code === null ? signalName : `exit code ${code}`}`;
        resolve();
      });
    });
  }

  /** Waits for any answer. @throws {Error} when none comes, with what the server said */
  async untilReady(sender: Sender, base: string): Promise<void> {
    const url = new URL(this.#command.ready ?? "/", base).href;
    const { seconds = START_SECONDS } = this.#command;
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
        // Whoever answers then is another, which has its port.
        throw this.#error(this.#failure + (answered ? `, though somebody answers at ${url}` : ""));
      }
      if (answered) break;
      if (performance.now() > end) throw this.#error(`answered nothing at ${url} within ${seconds} s`);
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
    if (!isOver(this.#child)) {
      signal(this.#child, "SIGTERM");
      const late = setTimeout(() => signal(this.#child, "SIGKILL"), STOP_SECONDS * 1000);
      await this.#exit;
      clearTimeout(late);
    }
    finish(this.#child);
  }

  #error(why: string): Error {
    const said = this.#said.trim();
    const command = this.#command.command.join(" ");
    return new Error(
      `Cannot use the target: its "start" (${command}) ${why}${said === "" ? "" : `. It says:\n${said}`}`,
    );
  }
}
