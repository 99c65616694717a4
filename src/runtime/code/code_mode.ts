/**
 * `trivet/code-mode`: an engine for code mode on Node, Deno and Bun. Each program runs in QuickJS, compiled to WebAssembly,
 * in a thread of its own (on Bun in a process), which is ended with the program, or at a limit. Needs the packages
 * `quickjs-emscripten-core` and `@jitl/quickjs-wasmfile-release-sync`. Workers (workerd) have no threads.
 *
 * @module
 */
import { BusyError, CallLimiter } from "../../gateway/call_limiter.ts";
import type { CodeEngine, Outcome, Program, ProgramHost } from "../../gateway/code/engine.ts";
import { checkNames, checkWhole, type Names } from "../../options/option_check.ts";
import { type Isolate, startIsolate } from "./isolate.ts";
import type { WorkerMessage } from "./worker_main.ts";

export type {
  CodeEngine,
  EngineLimits,
  FailureReason,
  Outcome,
  Program,
  ProgramHost,
  ProgramRequest,
} from "../../gateway/code/engine.ts";

/** Limits of the engine as a whole. */
export interface QuickJsOptions {
  /** Programs that run at the same time, each in a thread. At most as many again wait for their users. @default 4 */
  readonly threads?: number;
  /** Programs that wait for a thread, half of them of one user; more are refused. @default 64 */
  readonly waiting?: number;
}

/** How long a program waits for a thread. */
const MAX_WAIT_MS = 60_000;
/** Time beyond the limit of computing after which the thread is terminated: for code that ignores interrupts. */
const GRACE_MS = 500;
/** A thread starts in some 50 ms; on a machine under load it takes longer. */
const MAX_START_MS = 30_000;

const NAMES: Names<QuickJsOptions> = { threads: "number", waiting: "number" };

/**
 * Creates the engine for {@linkcode CodeModeOptions.engine}.
 * @throws {TypeError} for an option that does not exist
 * @throws {RangeError} for one that is not a whole number in its range
 */
export function quickJs(options: QuickJsOptions = {}): CodeEngine {
  checkNames("quickJs", options, NAMES);
  const { threads = 4, waiting: maxWaiting = 64 } = options;
  checkWhole("quickJs.threads", threads, 1);
  checkWhole("quickJs.waiting", maxWaiting, 0);
  const limiter = new CallLimiter(threads, maxWaiting, MAX_WAIT_MS);
  const running = new Map<Program, Running>();
  const paused = new Set<Running>();

  return {
    async run(given, host, signal) {
      if (signal.aborted) return STOPPED;
      const { user = "", ...program } = given;
      try {
        await limiter.enter({ signal }, () => user);
      } catch (error) {
        return error instanceof BusyError ? BUSY : STOPPED;
      }
      const own: Running = { user, pauses: 0 };
      running.set(given, own);
      try {
        return await runApart(program, host, signal);
      } finally {
        running.delete(given);
        if (!paused.delete(own)) limiter.leave();
      }
    },

    pause(program) {
      const own = running.get(program);
      if (!own) return () => {};
      if (own.pauses === 0) {
        const ofUser = own.user === "" ? 0 : [...paused].filter(({ user }) => user === own.user).length;
        // Their threads take memory.
        if (paused.size >= threads || ofUser >= Math.ceil(threads / 2)) return undefined;
        paused.add(own);
        limiter.leave();
      }
      own.pauses++;
      return () => {
        // A program that has ended is not there any more.
        if (--own.pauses === 0 && paused.delete(own)) limiter.enterAgain();
      };
    },
  };
}

/** A program that has a thread. */
interface Running {
  readonly user: string;
  /** Requests to its user that have no answer. */
  pauses: number;
}

const BUSY: Outcome = { failure: "stopped", message: "Too many programs run at the moment. Try again later" };
const STOPPED: Outcome = { failure: "stopped", message: "The program was stopped" };

/** Runs a program in an isolate of its own, which ends with it. */
async function runApart(program: Program, host: ProgramHost, signal: AbortSignal): Promise<Outcome> {
  const { computeMs } = program.limits;
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isolate: Isolate | undefined;
  let isStarted = false;
  let isComputing = false;
  /** Reports that the isolate owes: one of its start, and one for each answer that it gets. */
  let owed = 1;

  function expectMessage(ms: number, onTimeout: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(onTimeout, ms);
  }

  function startComputing(): void {
    isComputing = true;
    expectMessage(
      computeMs + GRACE_MS,
      () => resolve({ failure: "compute", message: `The program computed longer than ${computeMs} ms` }),
    );
  }

  function cannotStart(reason: string): void {
    const packages = "quickjs-emscripten-core and @jitl/quickjs-wasmfile-release-sync";
    reject(new Error(`Cannot start the engine of code mode: ${reason}. It needs the packages ${packages}`));
  }

  /** The isolate ended before it had an outcome. */
  function onEnd(reason: string): void {
    if (!isStarted) return cannotStart(reason);
    resolve({ failure: "memory", message: "The program needs more memory than it may use" });
  }

  function settle(id: number, isDone: boolean, text: string): void {
    owed++;
    // Answers give no further time to a program that computes.
    if (!isComputing) startComputing();
    isolate!.settle({ id, isDone, text });
  }

  function onMessage(message: WorkerMessage): void {
    switch (message.type) {
      case "started":
        isStarted = true;
        return startComputing();
      case "call": {
        const { id, name, input } = message;
        return host.request({ name, input, settle: (isDone, text) => settle(id, isDone, text) });
      }
      case "log":
        return host.onLog(message.line);
      case "idle":
        if (--owed > 0) return;
        isComputing = false;
        clearTimeout(timer);
        return host.onIdle();
      case "done":
        return resolve(message.outcome);
    }
  }

  const stop = (): void => resolve(STOPPED);
  signal.addEventListener("abort", stop, { once: true });
  try {
    expectMessage(MAX_START_MS, () => cannotStart("it takes too long"));
    isolate = startIsolate(program, {
      onMessage,
      onError: (error) => onEnd(error.message),
      onExit: () => onEnd("it has ended"),
    });
    if (signal.aborted) stop();
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    await isolate?.stop();
  }
}
