/**
 * What runs the program that a model wrote: without ambient authority, within limits, and never on the event loop of the
 * server. `trivet/code-mode` is an engine for Node, Deno and Bun.
 *
 * @module
 */

/** Limits that the engine enforces. */
export interface EngineLimits {
  /** Milliseconds of computing, without the time in which the program waits for tools. */
  readonly computeMs: number;
  /** Bytes of the program's memory. */
  readonly memoryBytes: number;
  /** Calls of tools; the program ends at the next one. */
  readonly calls: number;
  /** Bytes of the result, as JSON. */
  readonly resultBytes: number;
  /** Bytes of all lines that the program logs; more are dropped. */
  readonly logBytes: number;
}

/** A program and what it may use. */
export interface Program {
  /** The body of an asynchronous function. It gets `tools` and `console`. */
  readonly source: string;
  /** The seed of `Math.random`, an integer of 32 bits. */
  readonly seed: number;
  /** What the clock shows, in milliseconds since the epoch: it stands still, so that a program can be repeated. */
  readonly now: number;
  readonly limits: EngineLimits;
  /** Identifies the user, or the client that acts for itself, whose program it is: users take turns. @default anonymous */
  readonly user?: string;
}

/** A call of a tool by the program. */
export interface ProgramRequest {
  /** Chosen by the program. */
  readonly name: string;
  /** JSON text. */
  readonly input: string;
  /** Answers the call, once, with a JSON text, or with the message of an exception. */
  settle(isDone: boolean, text: string): void;
}

/** Why a program ended without a result. */
export type FailureReason = "exception" | "compute" | "memory" | "calls" | "stuck" | "result" | "stopped";

/** How a program ended: with a result, as JSON, or without. */
export type Outcome =
  | { readonly result: string }
  | { readonly failure: FailureReason; readonly message: string };

/** What a program calls of the server. */
export interface ProgramHost {
  request(request: ProgramRequest): void;
  /** Everything has run that can without an answer. */
  onIdle(): void;
  onLog(line: string): void;
}

/** Runs programs. */
export interface CodeEngine {
  /** Runs one program until its end, or until the signal aborts. Does not reject for anything that a program does. */
  run(program: Program, host: ProgramHost, signal: AbortSignal): Promise<Outcome>;
  /**
   * Called while the user of a program that runs is asked, who may take long: meanwhile others may run in its place. Returns
   * the function that ends this; `undefined` when too many programs wait for their users.
   * @default others wait
   */
  pause?(program: Program): (() => void) | undefined;
}
