/**
 * A compared server that runs as a child of this process, and what it can be asked.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Memory, Question, Reply } from "./child.ts";
import type { Slice, Sliced } from "./slice.ts";
import type { Subject, Variant } from "./subject.ts";

const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));

export class Running {
  readonly subject: Subject;
  readonly process: ChildProcess;
  /** What the child said first: its port, -1 when it does not offer what was asked for. */
  readonly ready: Promise<number>;

  /** @param mode as `child.ts` knows it */
  constructor(subject: Subject, mode: "calls" | "stdio" | Variant, tools: number) {
    this.subject = subject;
    const args = [
      "--expose-gc",
      "--max-old-space-size=12000",
      "--disable-warning=ExperimentalWarning",
    ];
    const { file, option } = subject;
    this.process = spawn(
      process.execPath,
      [
        ...args,
        CHILD,
        file,
        mode,
        String(tools),
        ...(option === undefined ? [] : [option]),
      ],
      {
        stdio: [
          mode === "stdio" ? "pipe" : "ignore",
          mode === "stdio" ? "pipe" : "inherit",
          "inherit",
          "ipc",
        ],
        // Some peers say more, and do more, in development.
        env: { ...process.env, NODE_ENV: "production" },
      },
    );
    this.ready = mode === "stdio" ? Promise.resolve(0) : this.#hear<number>();
    this.ready.catch(() => {});
  }

  stop(): void {
    this.process.kill("SIGKILL");
  }

  /** Microseconds of processor time that the server has used so far. */
  processorTime(): Promise<number> {
    return this.#ask("processorTime");
  }

  memory(): Promise<Memory> {
    return this.#ask("memory");
  }

  slice(slice: Slice): Promise<Sliced> {
    return this.#ask(slice);
  }

  #ask<Answer extends Reply>(question: Question): Promise<Answer> {
    const answer = this.#hear<Answer>();
    this.process.send(question);
    return answer;
  }

  #hear<Answer>(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`The server of ${this.subject.name} ended`));
      this.process.once("exit", fail);
      this.process.once("message", (answer) => {
        this.process.off("exit", fail);
        resolve(answer as Answer);
      });
    });
  }
}
