/**
 * A compared server in a child process.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Command, Memory, Reply } from "./child.ts";
import type { Slice, SliceResult } from "./call_handlers.ts";
import type { Subject, Variant } from "./subject.ts";

const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));

/** Loaded before a command, which does not know the parent: sends the processor time when asked. */
const REPORT = "data:text/javascript," + encodeURIComponent(
  `process.on("message", () => { const { user, system } = process.cpuUsage(); process.send(user + system); });`,
);

export class ServerProcess {
  readonly subject: Subject;
  readonly process: ChildProcess;
  /** The first message of the child: its port, or -1 if the server does not support the variant. */
  readonly ready: Promise<number>;

  /** @param mode see `child.ts` @param flags of Node */
  constructor(
    subject: Subject,
    mode: "calls" | "stdio" | Variant,
    tools: number,
    flags: readonly string[] = [],
  ) {
    this.subject = subject;
    const args = [
      "--expose-gc",
      "--max-old-space-size=12000",
      "--disable-warning=ExperimentalWarning",
      ...flags,
    ];
    const { file, option, command, environment } = subject;
    this.process = spawn(
      process.execPath,
      command ? ["--import", REPORT, ...command] : [
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
        // Some peers log and check more in development.
        env: { ...process.env, NODE_ENV: "production", ...environment },
      },
    );
    this.ready = mode === "stdio" ? Promise.resolve(0) : this.#receive<number>();
    this.ready.catch(() => {});
  }

  stop(): void {
    this.process.kill("SIGKILL");
  }

  /** Microseconds of processor time that the server has used so far. */
  processorTime(): Promise<number> {
    return this.#execute("processorTime");
  }

  memory(): Promise<Memory> {
    return this.#execute("memory");
  }

  slice(slice: Slice): Promise<SliceResult> {
    return this.#execute(slice);
  }

  #execute<Result extends Reply>(command: Command): Promise<Result> {
    const reply = this.#receive<Result>();
    this.process.send(command);
    return reply;
  }

  #receive<Result>(): Promise<Result> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`The server of ${this.subject.name} exited`));
      this.process.once("exit", fail);
      this.process.once("message", (reply) => {
        this.process.off("exit", fail);
        resolve(reply as Result);
      });
    });
  }
}
