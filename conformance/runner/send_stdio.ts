/**
 * A server on standard input and output: one JSON-RPC message a line. One process per vector.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";
import { type Command, finish, isOver, signal, start } from "./children.ts";
import { Broken, type Limits, within } from "./exchange.ts";
import { parseJson } from "./match.ts";

export type StdioCommand = Command;

/** A server in this process that looks like a child: a process for each vector is more than some runs can bear. */
export interface StdioProgram {
  readonly open: () => ChildProcess;
}

/** Of one process: more than any question asks for. */
const MOST_MESSAGES = 10_000;
/** Of standard error, for the reason of a failure. */
const MOST_SAID = 1000;

export class StdioServer {
  readonly #child: ChildProcess;
  readonly #limits: Limits;
  readonly #arrived: unknown[] = [];
  readonly #exit: Promise<number>;
  #rest = "";
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
      this.#said = (this.#said + chunk).slice(-MOST_SAID);
      noise += chunk.length;
      if (noise > limits.bytes) this.#flood(`More than ${limits.bytes} bytes of standard error arrived`);
    });
    const decoder = new TextDecoder();
    this.#child.stdout!.on(
      "data",
      (chunk: Uint8Array) => this.#take(decoder.decode(chunk, { stream: true })),
    );
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
        got.push(...this.#arrived.splice(0));
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

  #take(text: string): void {
    this.#size += text.length;
    if (this.#size > this.#limits.bytes) {
      this.#flood(`More than ${this.#limits.bytes} bytes arrived`);
      return;
    }
    if (!text.includes("\n")) {
      this.#rest += text;
      return;
    }
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    this.#count += lines.length;
    if (this.#count > MOST_MESSAGES) {
      this.#flood(`More than ${MOST_MESSAGES} lines arrived`);
      return;
    }
    for (const line of lines) {
      const message = parseJson(line);
      this.#arrived.push(message === undefined ? { unparsable: line } : message);
    }
    this.#stir();
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

/** Broken, with the messages that had arrived. */
export class Messages extends Broken {
  readonly messages: readonly unknown[];

  constructor({ word, message }: Broken, messages: readonly unknown[]) {
    super(word, message);
    this.messages = messages;
  }
}
