/**
 * A server on standard input and output: one JSON-RPC message per line, one process per vector.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";
import { toStrictText, toText } from "./bytes.ts";
import { type Command, hasExited, killGroup, signalGroup, spawnChild } from "./child_processes.ts";
import { type BreakKind, BrokenExchange, type Limits, withTimeout } from "./exchange.ts";
import { GrowingBytes } from "./growing_bytes.ts";
import { parseJson } from "../vector/match.ts";

export type StdioCommand = Command;

/** A server in this process with the interface of a child process, for runs where one process per vector is too slow. */
export interface StdioProgram {
  readonly open: () => ChildProcess;
}

/** Limit of messages from one process. No vector needs more. */
const MAX_MESSAGES = 10_000;
/** How much of standard error is kept for the reason of a failure. */
const MAX_STDERR_CHARACTERS = 1000;
const LF = 10;

export class StdioServer {
  readonly #child: ChildProcess;
  readonly #limits: Limits;
  readonly #arrived: unknown[] = [];
  readonly #exit: Promise<number>;
  /** The line that has not ended. */
  readonly #line = new GrowingBytes();
  #stderr = "";
  #size = 0;
  #count = 0;
  #over: BrokenExchange | undefined;
  #wake: (() => void) | undefined;

  constructor(server: StdioCommand | StdioProgram, limits: Limits) {
    this.#limits = limits;
    this.#child = "open" in server ? server.open() : spawnChild(server, ["pipe", "pipe", "pipe"]);
    this.#exit = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#stop(
          new BrokenExchange("refused", `Cannot start "${this.#child.spawnfile}": ${error.message}`),
        );
        resolve(-1);
      });
      const ended = (code: number | null) => {
        const said = this.#stderr.trim();
        const why = `The server ${code === null ? "was ended by a signal" : `exited with code ${code}`}`;
        this.#stop(new BrokenExchange("closed", said === "" ? why : `${why}. Standard error: ${said}`));
        resolve(code ?? -1);
      };
      this.#child.once("close", ended);
      // Output may still arrive after the exit. A grandchild may keep the pipe open, so the wait is limited.
      this.#child.once("exit", (code) => void setTimeout(ended, 500, code));
    });
    this.#child.stdin!.on("error", () => {});
    // The exit, if it follows, gives a better reason.
    const closed = () => this.#stop(new BrokenExchange("closed", "The server closed its standard output"));
    this.#child.stdout!.once("end", () => void setTimeout(closed, 600));
    let noise = 0;
    this.#child.stderr!.on("data", (chunk: Uint8Array) => {
      this.#stderr = (this.#stderr + chunk).slice(-MAX_STDERR_CHARACTERS);
      noise += chunk.length;
      if (noise > limits.bytes) this.#flood(`Received more than ${limits.bytes} bytes on standard error`);
    });
    this.#child.stdout!.on("data", (chunk: Uint8Array) => this.#take(chunk));
  }

  /** Writes lines to standard input unchanged. */
  send(lines: readonly string[]): void {
    for (const line of lines) this.#child.stdin!.write(`${line}\n`);
  }

  /** Reads messages until `isEnough`, which is called with all of them. @throws {BrokenExchange} with `hung`, `closed` or `flooded` */
  async receive(isEnough: (messages: readonly unknown[]) => Promise<boolean>): Promise<unknown[]> {
    const messages: unknown[] = [];
    const wait = async () => {
      while (true) {
        for (const message of this.#arrived.splice(0)) messages.push(message);
        if (await isEnough(messages)) return;
        if (this.#arrived.length > 0) continue;
        if (this.#over) throw this.#over;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    };
    try {
      await withTimeout(wait(), this.#limits.seconds, "The response");
      return messages;
    } catch (error) {
      if (!(error instanceof BrokenExchange)) throw error;
      const { length } = this.#line;
      const why = length > 0 ? `${error.message}. The last ${length} bytes have no line end` : error.message;
      throw new BrokenMessages(error.kind, why, messages);
    }
  }

  /** Closes standard input and waits for the exit. @throws {BrokenExchange} with `hung` */
  async end(): Promise<{ exit: number; messages: unknown[] }> {
    this.#child.stdin!.end();
    const exit = await withTimeout(
      this.#exit,
      this.#limits.seconds,
      "The exit after the end of standard input",
    );
    return { exit, messages: this.#arrived.splice(0) };
  }

  async kill(): Promise<void> {
    if (!hasExited(this.#child)) {
      // First the end of input, so that the server can clean up.
      this.#child.stdin!.end();
      const timers = [
        setTimeout(() => signalGroup(this.#child, "SIGTERM"), 300),
        setTimeout(() => signalGroup(this.#child, "SIGKILL"), 1000),
      ];
      await this.#exit;
      timers.forEach(clearTimeout);
    }
    killGroup(this.#child);
  }

  #take(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#size > this.#limits.bytes) {
      this.#flood(`Received more than ${this.#limits.bytes} bytes`);
      return;
    }
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      if (++this.#count > MAX_MESSAGES) {
        this.#flood(`Received more than ${MAX_MESSAGES} lines`);
        return;
      }
      this.#line.add(chunk.subarray(start, end));
      start = end + 1;
      this.#arrived.push(toMessage(this.#line.take()));
    }
    this.#line.add(chunk.subarray(start));
    if (start > 0) this.#wakeReader();
  }

  #flood(why: string): void {
    this.#stop(new BrokenExchange("flooded", why));
    killGroup(this.#child);
  }

  #stop(why: BrokenExchange): void {
    this.#over ??= why;
    this.#wakeReader();
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** Parses a line as JSON, which must be UTF-8 (RFC 8259 section 8.1). */
function toMessage(line: Uint8Array): unknown {
  const text = toStrictText(line);
  const message = text === undefined ? undefined : parseJson(text);
  return message === undefined ? { unparsable: text ?? toText(line) } : message;
}

/** A failed exchange with the messages received before the failure. */
export class BrokenMessages extends BrokenExchange {
  readonly messages: readonly unknown[];

  constructor(kind: BreakKind, message: string, messages: readonly unknown[]) {
    super(kind, message);
    this.messages = messages;
  }
}
