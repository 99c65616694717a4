/**
 * Runs one program in QuickJS, a JavaScript engine compiled to WebAssembly: it has no input, output, timers or modules, and
 * reaches nothing but the three functions that the host gives it. The engine cannot be interrupted within its own loops
 * (`String.raw({ raw: { length: 2 ** 40 } })`), so it must run in a thread that can be terminated.
 *
 * @module
 */
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from "quickjs-emscripten-core";
import variant from "@jitl/quickjs-wasmfile-release-sync";
import type { Outcome, Program } from "../../gateway/code/engine.ts";
import { PRELUDE } from "./prelude.ts";

const MAX_STACK_BYTES = 256 * 1024;
/** Characters of the name of a tool, of a line of the log, and of an exception's message. */
const MAX_NAME_CHARACTERS = 200;
const MAX_LINE_CHARACTERS = 10_000;
const MAX_MESSAGE_CHARACTERS = 2_000;
/** Characters of the arguments of a call. */
const MAX_INPUT_CHARACTERS = 1_048_576;

export interface SandboxHost {
  call(id: number, name: string, input: string): void;
  log(line: string): void;
}

export class Sandbox {
  readonly #program: Program;
  readonly #host: SandboxHost;
  readonly #runtime: QuickJSRuntime;
  readonly #vm: QuickJSContext;
  #control: QuickJSHandle | undefined;
  #outcome: Outcome | undefined;
  #used = 0;
  #since = 0;
  #waiting = 0;
  #calls = 0;
  #logBytesLeft: number;

  private constructor(
    program: Program,
    host: SandboxHost,
    module: QuickJSWASMModule,
  ) {
    this.#program = program;
    this.#host = host;
    this.#logBytesLeft = program.limits.logBytes;
    this.#runtime = module.newRuntime();
    this.#runtime.setMemoryLimit(program.limits.memoryBytes);
    this.#runtime.setMaxStackSize(MAX_STACK_BYTES);
    this.#runtime.setInterruptHandler(() => this.#outcome !== undefined || this.#isOverTime());
    this.#vm = this.#runtime.newContext();
  }

  static async create(program: Program, host: SandboxHost): Promise<Sandbox> {
    // Its declarations are those of CommonJS, in which the default is the module.
    const module = await newQuickJSWASMModuleFromVariant(variant as unknown as QuickJSSyncVariant);
    return new Sandbox(program, host, module);
  }

  /** Starts the program. Returns its outcome, or `undefined` while it waits for tools. */
  start(): Outcome | undefined {
    return this.#run(() => {
      const { seed, now, source } = this.#program;
      const vm = this.#vm;
      const prelude = this.#evaluate(PRELUDE, "prelude.js");
      if (!prelude) return;
      const given = [
        vm.newFunction("request", (id, name, input) => this.#onRequest(id, name, input)),
        vm.newFunction("log", (line) => this.#onLog(line)),
        vm.newFunction("finish", (isDone, text) => this.#onFinish(isDone, text)),
        vm.newNumber(seed),
        vm.newNumber(now),
      ];
      this.#control = this.#check(vm.callFunction(prelude, vm.undefined, ...given));
      const run = this.#evaluate(`(async () => {${source}\n})`, "program.js");
      if (run && this.#control) {
        this.#check(vm.callFunction(vm.getProp(this.#control, "start"), vm.undefined, run));
      }
    });
  }

  /** Answers a call. Returns as `start`. */
  settle(id: number, isDone: boolean, text: string): Outcome | undefined {
    return this.#run(() => {
      this.#waiting--;
      const vm = this.#vm;
      const given = [vm.newNumber(id), isDone ? vm.true : vm.false, vm.newString(text)];
      this.#check(vm.callFunction(vm.getProp(this.#control!, "settle"), vm.undefined, ...given));
    });
  }

  #run(step: () => void): Outcome | undefined {
    this.#since = performance.now();
    try {
      step();
      while (!this.#outcome && this.#runtime.hasPendingJob()) {
        // One at a time: the outcome ends the program, also when other jobs never end.
        this.#check(this.#runtime.executePendingJobs(1));
        if (this.#isOverTime()) this.#outcome ??= this.#timeout();
      }
    } catch {
      // The engine itself failed: its stack or its memory is exhausted, and it must not be used again.
      this.#outcome ??= this.#isOverTime() ? this.#timeout() : {
        failure: "memory",
        message: "The program needs more memory than it may use",
      };
    }
    this.#used = this.#usedNow();
    this.#since = 0;
    if (!this.#outcome && this.#waiting === 0) {
      return { failure: "stuck", message: "The program awaits a promise that nothing can resolve" };
    }
    return this.#outcome;
  }

  #usedNow(): number {
    return this.#used + (this.#since === 0 ? 0 : performance.now() - this.#since);
  }

  #isOverTime(): boolean {
    return this.#usedNow() > this.#program.limits.computeMs;
  }

  #timeout(): Outcome {
    return {
      failure: "compute",
      message: `The program computed longer than ${this.#program.limits.computeMs} ms`,
    };
  }

  #evaluate(source: string, file: string): QuickJSHandle | undefined {
    return this.#check(this.#vm.evalCode(source, file));
  }

  /** The value, or `undefined` after an exception, which ends the program. */
  #check<Value>(result: { error?: QuickJSHandle | undefined; value?: Value }): Value | undefined {
    const { error } = result;
    if (!error) return result.value;
    const name = this.#readText(this.#vm.getProp(error, "name"), MAX_NAME_CHARACTERS);
    const text = this.#readText(this.#vm.getProp(error, "message"), MAX_MESSAGE_CHARACTERS);
    const line = this.#vm.getProp(error, "lineNumber");
    const at = this.#vm.typeof(line) === "number" ? ` (line ${this.#vm.getNumber(line)})` : "";
    this.#outcome ??= this.#toFailure(`${name ?? "Error"}: ${text ?? ""}${at}`);
    return undefined;
  }

  #toFailure(message: string): Outcome {
    if (this.#isOverTime()) return this.#timeout();
    return message.startsWith("InternalError: out of memory")
      ? { failure: "memory", message: "The program needs more memory than it may use" }
      : { failure: "exception", message };
  }

  #onRequest(id: QuickJSHandle, name: QuickJSHandle, input: QuickJSHandle): void {
    if (this.#outcome) return;
    const { calls } = this.#program.limits;
    if (++this.#calls > calls) {
      this.#outcome = { failure: "calls", message: `The program calls tools more than ${calls} times` };
      return;
    }
    const number = this.#vm.getNumber(id);
    this.#waiting++;
    const called = this.#readText(name, MAX_NAME_CHARACTERS) ?? "";
    const text = this.#readText(input, MAX_INPUT_CHARACTERS + 1) ?? "";
    this.#host.call(number, called, text.length > MAX_INPUT_CHARACTERS ? "" : text);
  }

  #onLog(line: QuickJSHandle): void {
    if (this.#logBytesLeft <= 0) return;
    const text = this.#readText(line, Math.min(MAX_LINE_CHARACTERS, this.#logBytesLeft)) ?? "";
    // At least one, so that empty lines end too.
    this.#logBytesLeft -= new TextEncoder().encode(text).length + 1;
    this.#host.log(text);
  }

  #onFinish(isDone: QuickJSHandle, text: QuickJSHandle): void {
    if (this.#outcome) return;
    const { resultBytes } = this.#program.limits;
    if (this.#vm.dump(isDone) !== true) {
      this.#outcome = this.#toFailure(this.#readText(text, MAX_MESSAGE_CHARACTERS) ?? "");
      return;
    }
    const result = this.#readText(text, resultBytes + 1) ?? "";
    const bytes = new TextEncoder().encode(result).length;
    this.#outcome = bytes <= resultBytes ? { result } : {
      failure: "result",
      message: `The result has more than ${resultBytes} bytes. Return only what is needed`,
    };
  }

  /** The beginning of a text of the program; `undefined` for another value. */
  #readText(value: QuickJSHandle, maxCharacters: number): string | undefined {
    return this.#vm.typeof(value) === "string"
      ? this.#vm.getString(value).slice(0, maxCharacters)
      : undefined;
  }
}
