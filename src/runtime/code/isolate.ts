/**
 * Where a program runs apart from the server: in a thread, or on Bun, which cannot terminate a thread that is in a loop of
 * WebAssembly (1.4), in a process.
 *
 * @module
 */
import { fork } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Program } from "../../gateway/code/engine.ts";
import type { Settle, WorkerMessage } from "./worker_main.ts";

export interface Isolate {
  settle(answer: Settle): void;
  /** Ends it, whatever it does. */
  stop(): Promise<void>;
}

export interface IsolateEvents {
  onMessage(message: WorkerMessage): void;
  onError(error: Error): void;
  onExit(): void;
}

/** Megabytes of a thread besides the memory of the program. */
const THREAD_HEAP_MB = 64;

/** Starts the isolate with a program. */
export function startIsolate(program: Program, events: IsolateEvents): Isolate {
  const main = new URL("./worker_main.ts", import.meta.url);
  return "bun" in process.versions ? startProcess(main, program, events) : startThread(main, program, events);
}

function startThread(main: URL, program: Program, { onMessage, onError, onExit }: IsolateEvents): Isolate {
  const worker = new Worker(main, {
    workerData: program,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  });
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  return {
    settle: (answer) => worker.postMessage(answer),
    async stop() {
      await worker.terminate();
    },
  };
}

function startProcess(main: URL, program: Program, { onMessage, onError, onExit }: IsolateEvents): Isolate {
  const child = fork(fileURLToPath(main), { env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"] });
  child.on("message", (message) => onMessage(message as WorkerMessage)).on("error", onError).on(
    "exit",
    onExit,
  );
  child.send(program);
  return {
    // A program that has ended waits for no answer.
    settle: (answer) => void (child.connected && child.send(answer)),
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once("exit", () => resolve());
        child.kill("SIGKILL");
      }),
  };
}
