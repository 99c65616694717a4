/**
 * A server on standard input and output: one JSON-RPC message a line. One process per vector.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { Broken, type Limits, within } from "./exchange.ts";
import { parseJson } from "./match.ts";

export interface StdioCommand {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export class StdioServer {
  readonly #child: ChildProcess;
  readonly #limits: Limits;
  readonly #arrived: unknown[] = [];
  readonly #exit: Promise<number>;
  #rest = "";
  #size = 0;
  #over: Broken | undefined;
  #wake: (() => void) | undefined;

  constructor({ command: [program = "", ...args], env, cwd }: StdioCommand, limits: Limits) {
    this.#limits = limits;
    this.#child = spawn(program, args, {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, ...env },
      ...(cwd && { cwd }),
    });
    this.#exit = new Promise((resolve) => {
      this.#child.once("error", (error) => {
        this.#stop(new Broken("refused", `Cannot start "${program}": ${error.message}`));
        resolve(-1);
      });
      const ended = (code: number | null) => {
        this.#stop(new Broken("closed", `The server ended with exit code ${code ?? "none"}`));
        resolve(code ?? -1);
      };
      this.#child.once("close", ended);
      // What it wrote before may still be on its way; but a child of its own may hold the pipe for ever.
      this.#child.once("exit", (code) => void setTimeout(ended, 500, code));
    });
    this.#child.stdin!.on("error", () => {});
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
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) {
      return;
    }
    // It may have children of its own, which end with it only if it ends in peace.
    this.#child.stdin!.end();
    const impatient = [
      setTimeout(() => this.#child.kill("SIGTERM"), 300),
      setTimeout(() => this.#child.kill("SIGKILL"), 1000),
    ];
    await this.#exit;
    impatient.forEach(clearTimeout);
  }

  #take(text: string): void {
    this.#size += text.length;
    if (this.#size > this.#limits.bytes) {
      this.#stop(new Broken("flooded", `More than ${this.#limits.bytes} bytes arrived`));
      this.#child.kill("SIGKILL");
      return;
    }
    if (!text.includes("\n")) {
      this.#rest += text;
      return;
    }
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const message = parseJson(line);
      this.#arrived.push(message === undefined ? { unparsable: line } : message);
    }
    this.#stir();
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
