/**
 * Runs procedures that are programs: variables as JSON on standard input, captures as JSON on standard
 * output. A program with `stays` is started once and receives one line per call.
 *
 * @module
 */
import { createInterface } from "node:readline";
import { type Command, killGroup, killGroupSoon, spawnChild } from "../exchange/child_processes.ts";
import { parseJson } from "../vector/match.ts";
import { ExpectationFailed } from "../outcome.ts";
import { toTimerMs } from "../exchange/timer.ts";
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";

export interface Program {
  readonly exec: readonly string[];
  readonly cwd?: string;
  /** Time limit of one call. */
  readonly seconds?: number;
  readonly stays?: boolean;
}

const DEFAULT_CALL_SECONDS = 60;
const MAX_STOP_SECONDS = 5;
const REPORTED_ERROR = "reported:";
const MAX_OUTPUT_BYTES = 1 << 20;
/** How much of standard error is kept for the reason of a failure. */
const MAX_STDERR_CHARACTERS = 2000;

/** @throws {ExpectationFailed} with the reason */
export async function runProgram(program: Program, input: JsonObject): Promise<JsonObject> {
  if (program.stays) return await callRunning(program, input);
  return await new ProgramProcess(program).runOnce(input);
}

type Refuse = (why: string) => void;

/** A started program. */
class ProgramProcess {
  readonly #name: string;
  readonly #seconds: number;
  readonly #child: ReturnType<typeof spawnChild>;
  #stderr = "";
  /** Why no further call is possible. */
  #endReason: string | undefined;
  /** Called when the program ends. */
  #onEnd: ((why: string, code: number | null) => void) | undefined;
  readonly #exited: Promise<void>;

  constructor({ exec, cwd, seconds = DEFAULT_CALL_SECONDS }: Program) {
    this.#name = exec[0] ?? "";
    this.#seconds = seconds;
    const command: Command = { command: exec, ...(cwd !== undefined && { cwd }) };
    this.#child = spawnChild(command, ["pipe", "pipe", "pipe"]);
    this.#child.stdin!.on("error", () => {});
    this.#child.stderr!.on(
      "data",
      (chunk) => this.#stderr = (this.#stderr + chunk).slice(-MAX_STDERR_CHARACTERS),
    );
    const end = (why: string, code: number | null) => {
      this.#endReason ??= why;
      this.#onEnd?.(this.#endReason, code);
    };
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", () => resolve());
      this.#child.once("exit", () => resolve());
    });
    this.#child.once("error", (error) => end(`could not be started: ${error.message}`, -1));
    this.#child.once(
      "close",
      (code) => end(code === null ? "was ended by a signal" : `ended with exit code ${code}`, code),
    );
  }

  get hasExited(): boolean {
    return this.#endReason !== undefined;
  }

  /** Sends one input. The whole output is the result. */
  async runOnce(input: JsonObject): Promise<JsonObject> {
    let text = "";
    return await this.#within((resolve, refuse) => {
      this.#child.stdout!.on("data", (chunk) => {
        text += chunk;
        if (text.length > MAX_OUTPUT_BYTES) refuse(`wrote more than ${MAX_OUTPUT_BYTES} bytes`);
      });
      this.#onEnd = (why, code) => {
        const captured = parseJson(text);
        if (code !== 0) refuse(why);
        else if (!isJsonObject(captured)) refuse("did not write a JSON object");
        else resolve(captured);
      };
      this.#child.stdin!.end(JSON.stringify(input));
    }).finally(() => killGroup(this.#child));
  }

  /** Sends one line of input. One line of output is the result, and the program continues. */
  async call(input: JsonObject): Promise<JsonObject> {
    const reader = createInterface({ input: this.#child.stdout! });
    let size = 0;
    let count = (_: Uint8Array): void => {};
    try {
      return await this.#within((resolve, refuse) => {
        count = (chunk) => {
          size += chunk.length;
          if (size > MAX_OUTPUT_BYTES) refuse(`wrote more than ${MAX_OUTPUT_BYTES} bytes`);
        };
        this.#child.stdout!.on("data", count);
        reader.once("line", (line) => {
          const captured = parseJson(line);
          if (!isJsonObject(captured)) refuse("did not write a JSON object");
          else if (typeof captured["error"] === "string") refuse(`${REPORTED_ERROR} ${captured["error"]}`);
          else resolve(captured);
        });
        this.#onEnd = refuse;
        if (this.#endReason !== undefined) refuse(this.#endReason);
        else this.#child.stdin!.write(JSON.stringify(input) + "\n");
      });
    } finally {
      this.#child.stdout!.off("data", count);
      reader.close();
    }
  }

  /** Closes standard input, and kills the program if it does not end. */
  async stop(): Promise<void> {
    this.#child.stdin!.end();
    const killTimer = setTimeout(() => killGroup(this.#child), MAX_STOP_SECONDS * 1000);
    await this.#exited;
    clearTimeout(killTimer);
    killGroup(this.#child);
  }

  #within(act: (resolve: (captured: JsonObject) => void, refuse: Refuse) => void): Promise<JsonObject> {
    return new Promise<JsonObject>((resolve, reject) => {
      const refuse = (why: string) => {
        clearTimeout(timer);
        // A program that reports an error itself may continue.
        if (!why.startsWith(REPORTED_ERROR)) killGroupSoon(this.#child);
        const stderr = this.#stderr.trim();
        reject(
          new ExpectationFailed(
            `"${this.#name}" ${why}${stderr === "" ? "" : `. Standard error: ${stderr}`}`,
          ),
        );
      };
      const timer = setTimeout(
        () => refuse(`did not finish within ${this.#seconds} s`),
        toTimerMs(this.#seconds),
      );
      act((captured) => {
        clearTimeout(timer);
        resolve(captured);
      }, refuse);
    }).finally(() => this.#onEnd = undefined);
  }
}

/** Stops the running programs and waits, so that they can end what they have started. */
export async function stopPrograms(): Promise<void> {
  await Promise.all([...runningPrograms.values()].map(({ run }) => run.stop()));
  runningPrograms.clear();
}

interface RunningProgram {
  run: ProgramProcess;
  /** The last call. Calls run one after another. */
  last: Promise<unknown>;
}

const runningPrograms = new Map<string, RunningProgram>();

async function callRunning(program: Program, input: JsonObject): Promise<JsonObject> {
  const key = JSON.stringify([program.exec, program.cwd]);
  const running = runningPrograms.get(key) ?? { run: new ProgramProcess(program), last: Promise.resolve() };
  runningPrograms.set(key, running);
  const turn = running.last.then(() => {
    if (running.run.hasExited) running.run = new ProgramProcess(program);
    return running.run.call(input);
  });
  running.last = turn.catch(() => {});
  return await turn;
}
