/**
 * A server on standard input and output: one JSON-RPC message a line. One process per vector.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";
import { toStrictText, toText } from "./bytes.ts";
import { type Command, finish, isOver, signal, start } from "./children.ts";
import { Broken, type Limits, within } from "./exchange.ts";
import { GrowingBytes } from "./growing_bytes.ts";
import { parseJson } from "../vector/match.ts";

export type StdioCommand = Command;

/** A server in this process that looks like a child: a process for each vector is more than some runs can bear. */
export interface StdioProgram {
  readonly open: () => ChildProcess;
}

/** Of one process: more than any question asks for. */
const MAX_MESSAGES = 10_000;
/** Of standard error, for the reason of a failure. */
const MAX_OUTPUT_CHARACTERS = 1000;
const LF = 10;

export class StdioServer {
  readonly #child: ChildProcess;
  readonly #limits: Limits;
  readonly #arrived: unknown[] = [];
  readonly #exit: Promise<number>;
  /** Of the line that has not ended. */
  readonly #line = new GrowingBytes();
  #said = "";
  #size = 0;
  #count = 0;
  #over: Broken | undefined;
  #wake: (() => void) | undefined;

  constructor(server: StdioCommand | StdioProgram, limits: Limits) {
    this.#limits = limits;
    this.#child = "open" in server ? server.open() : start(server, ["pipe", "pipe", "pipe"]);
    this.#exit = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#stop(new Broken("refused", `Cannot start "${this.#child.spawnfile}": ${error.message}`));
        resolve(-1);
      });
      const ended = (code: number | null) => {
        const said = this.#said.trim();
        const why = `The server ended with exit code ${code ?? "none"}`;
        this.#stop(new Broken("closed", said === "" ? why : `${why}, and said: ${said}`));
        resolve(code ?? -1);
      };
      this.#child.once("close", ended);
      // What it wrote before may still be on its way; but a child of its own may hold the pipe for ever.
      this.#child.once("exit", (code) => void setTimeout(ended, 500, code));
    });
    this.#child.stdin!.on("error", () => {});
    // Its exit, if it comes, says more.
    const closed = () => this.#stop(new Broken("closed", "The server closed its standard output"));
    this.#child.stdout!.once("end", () => void setTimeout(closed, 600));
    let noise = 0;
    this.#child.stderr!.on("data", (chunk: Uint8Array) => {
      this.#said = (this.#said + chunk).slice(-MAX_OUTPUT_CHARACTERS);
      noise += chunk.length;
      if (noise > limits.bytes) this.#flood(`More than ${limits.bytes} bytes of standard error arrived`);
    });
    this.#child.stdout!.on("data", (chunk: Uint8Array) => this.#take(chunk));
  }

  /** Sends lines as they are. */
  send(lines: readonly string[]): void {
    for (const line of lines) this.#child.stdin!.write(`${line}\n`);
  }

  /** What arrives until `isEnough`, which is given all that has. @throws {Broken} with `hung`, `closed` or `flooded` */
  async receive(isEnough: (messages: readonly unknown[]) => Promise<boolean>): Promise<unknown[]> {
    const got: unknown[] = [];
    const wait = async () => {
      while (true) {
        for (const message of this.#arrived.splice(0)) got.push(message);
        if (await isEnough(got)) return;
        if (this.#arrived.length > 0) continue;
        if (this.#over) throw this.#over;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    };
    try {
      await within(wait(), this.#limits.seconds, "An answer");
      return got;
    } catch (error) {
      throw error instanceof Broken ? new Messages(error, got) : error;
    }
  }

  /** Closes standard input and waits for the exit. @throws {Broken} when it does not come */
  async end(): Promise<{ exit: number; messages: unknown[] }> {
    this.#child.stdin!.end();
    const exit = await within(this.#exit, this.#limits.seconds, "The exit after the end of input");
    return { exit, messages: this.#arrived.splice(0) };
  }

  async kill(): Promise<void> {
    if (!isOver(this.#child)) {
      // In peace first: it may have something to put away.
      this.#child.stdin!.end();
      const impatient = [
        setTimeout(() => signal(this.#child, "SIGTERM"), 300),
        setTimeout(() => signal(this.#child, "SIGKILL"), 1000),
      ];
      await this.#exit;
      impatient.forEach(clearTimeout);
    }
    finish(this.#child);
  }

  #take(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#size > this.#limits.bytes) {
      this.#flood(`More than ${this.#limits.bytes} bytes arrived`);
      return;
    }
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      if (++this.#count > MAX_MESSAGES) {
        this.#flood(`More than ${MAX_MESSAGES} lines arrived`);
        return;
      }
      this.#line.add(chunk.subarray(start, end));
      start = end + 1;
      this.#arrived.push(toMessage(this.#line.take()));
    }
    this.#line.add(chunk.subarray(start));
    if (start > 0) this.#stir();
  }

  #flood(why: string): void {
    this.#stop(new Broken("flooded", why));
    finish(this.#child);
  }

  #stop(why: Broken): void {
    this.#over ??= why;
    this.#stir();
  }

  #stir(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

/** A line as JSON, which is UTF-8 (RFC 8259 section 8.1). */
function toMessage(line: Uint8Array): unknown {
  const text = toStrictText(line);
  const message = text === undefined ? undefined : parseJson(text);
  return message === undefined ? { unparsable: text ?? toText(line) } : message;
}

/** Broken, with the messages that had arrived. */
export class Messages extends Broken {
  readonly messages: readonly unknown[];

  constructor({ word, message }: Broken, messages: readonly unknown[]) {
    super(word, message);
    this.messages = messages;
  }
}
