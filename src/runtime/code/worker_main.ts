/**
 * The thread or process in which one program runs: gets the program, and is ended from outside.
 *
 * @module
 */
import process from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import type { Outcome, Program } from "../../gateway/code/engine.ts";
import { Sandbox } from "./sandbox.ts";

/** From the server: the answer to a call. */
export interface Settle {
  readonly id: number;
  readonly isDone: boolean;
  readonly text: string;
}

/** To the server. */
export type WorkerMessage =
  | { readonly type: "started" }
  | { readonly type: "call"; readonly id: number; readonly name: string; readonly input: string }
  | { readonly type: "log"; readonly line: string }
  | { readonly type: "idle" }
  | { readonly type: "done"; readonly outcome: Outcome };

const send = (message: WorkerMessage): void =>
  parentPort ? parentPort.postMessage(message) : void process.send!(message);
const report = (outcome: Outcome | undefined): void =>
  send(outcome ? { type: "done", outcome } : { type: "idle" });

async function run(program: Program): Promise<(answer: Settle) => void> {
  const sandbox = await Sandbox.create(program, {
    call: (id, name, input) => send({ type: "call", id, name, input }),
    log: (line) => send({ type: "log", line }),
  });
  send({ type: "started" });
  report(sandbox.start());
  return ({ id, isDone, text }) => report(sandbox.settle(id, isDone, text));
}

if (parentPort) {
  parentPort.on("message", await run(workerData as Program));
} else {
  process.once("message", async (program: Program) => {
    process.on("message", await run(program));
  });
  // Without its server nothing needs the result.
  process.once("disconnect", () => process.exit());
}
