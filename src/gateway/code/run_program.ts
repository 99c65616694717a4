/**
 * Runs one program with its calls, until it returns, takes too long, is cancelled, or waits for the user.
 *
 * @module
 */
import type { CallContext } from "../../mcp/context.ts";
import { ToolError } from "../../mcp/definition/definition.ts";
import { MODERN } from "../../mcp/era.ts";
import { Suspension } from "../../mcp/input/suspension.ts";
import { userKey } from "../../mcp/session/principal_key.ts";
import type { CodeEngine, EngineLimits, Outcome, Program } from "./engine.ts";
import { checkKeptBytes, ProgramCalls, type RunByName } from "./program_calls.ts";
import { RunClock } from "./run_clock.ts";

/** Limits of one program. */
export interface CodeLimits extends EngineLimits {
  /** Milliseconds with all calls, without the time in which the user answers. */
  readonly durationMs: number;
  /** Calls that run at the same time; more wait. */
  readonly concurrentCalls: number;
  /** Bytes of the result of one call, as JSON. */
  readonly callResultBytes: number;
  /** Characters of the program. */
  readonly sourceCharacters: number;
}

/** What programs run with. */
export interface ProgramHost {
  readonly engine: CodeEngine;
  readonly limits: CodeLimits;
  /** Calls a tool by its name, as the caller. */
  readonly callTool: RunByName;
}

/** Runs a program, and returns its result for the model. @throws {Suspension} when a call needs input of the user */
export async function runProgram(
  source: string,
  { engine, limits, callTool }: ProgramHost,
  context: CallContext,
): Promise<unknown> {
  const start = await context.once("program", () => ({
    seed: crypto.getRandomValues(new Int32Array(1))[0]!,
    now: Date.now(),
  }));
  const lines: string[] = [];
  let steps = 0;
  let isSuspended = false;
  let isLate = false;
  const program: Program = { source, ...start, limits, user: userKey(context.principal) };
  /** @throws {ToolError} */
  const pauseEngine = (): () => void => {
    // From 2026-07-28 on the request ends the run.
    if (!engine.pause || context.revision >= MODERN) return () => {};
    const resume = engine.pause(program);
    if (resume) return resume;
    throw new ToolError("Too many programs wait for their users at the moment. Try again later");
  };
  const programEnds = new AbortController();
  const callsEnd = new AbortController();
  const onCancelled = () => {
    programEnds.abort();
    calls.end();
  };
  const clock = new RunClock(limits.durationMs, () => {
    isLate = true;
    onCancelled();
  });
  const calls = new ProgramCalls(
    {
      context,
      signal: callsEnd.signal,
      progress: (message) => context.progress(++steps, undefined, message),
      async ask(request) {
        checkKeptBytes(calls.keptBytes);
        const resume = pauseEngine();
        try {
          return await clock.pause(request);
        } finally {
          resume();
        }
      },
    },
    callTool,
    limits,
    () => {
      isSuspended = true;
      programEnds.abort();
    },
  );
  context.signal.addEventListener("abort", onCancelled, { once: true });
  if (context.signal.aborted) onCancelled();
  try {
    const outcome = await engine.run(program, {
      request: (request) => calls.request(request),
      onIdle: () => calls.onIdle(),
      onLog: (line) => lines.push(line),
    }, programEnds.signal);
    if ("result" in outcome) await calls.finish();
    if (isSuspended) throw new Suspension();
    callsEnd.abort();
    const late = `The program took longer than ${limits.durationMs} ms with its calls`;
    return toResult(isLate ? { failure: "stopped", message: late } : outcome, lines);
  } finally {
    calls.end();
    clock.stop();
    context.signal.removeEventListener("abort", onCancelled);
  }
}

/** The result for the model: what the program returned or why it ended, and what it logged. */
function toResult(outcome: Outcome, lines: readonly string[]): unknown {
  const log = lines.length > 0 ? [{ type: "text", text: `Log:\n${lines.join("\n")}` }] : [];
  if ("failure" in outcome) {
    return { content: [{ type: "text", text: outcome.message }, ...log], isError: true };
  }
  const value: unknown = JSON.parse(outcome.result);
  const text = typeof value === "string" ? value : outcome.result;
  return { content: [{ type: "text", text }, ...log] };
}
