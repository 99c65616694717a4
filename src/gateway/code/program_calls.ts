/**
 * The calls of one program. In 2026-07-28 a request for input ends the run, and the program runs again from its start with
 * the answer: then calls that are complete get the same results, in the same order, without running again. For that the
 * program must take the same way, so it is answered only while it waits, and new calls start after all kept results.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { digestLarge } from "../../crypto/large_digest.ts";
import { nextTurn } from "../../http/next_turn.ts";
import { isObject } from "../../json_schema/value.ts";
import { toJson } from "../../jsonrpc/to_json.ts";
import type { CallContext } from "../../mcp/context.ts";
import type { ToolResult } from "../../mcp/definition/content.ts";
import { ToolError } from "../../mcp/definition/definition.ts";
import { Suspension } from "../../mcp/input/suspension.ts";
import type { ProgramRequest } from "./engine.ts";
import { ProgramCall, type ProgramRun } from "./program_call.ts";

export interface CallLimits {
  /** Calls that run at the same time; more wait. */
  readonly concurrentCalls: number;
  /** Bytes of the result of one call, as JSON. */
  readonly callResultBytes: number;
}

/** Runs a tool as the caller. */
export type RunByName = (
  name: string,
  input: Readonly<Record<string, unknown>>,
  context: CallContext,
) => Promise<ToolResult>;

/** The outcome of a call as `once` keeps it. */
interface Kept {
  /** Its place in the order of all answers. */
  readonly order: number;
  readonly isDone: boolean;
  /** A JSON value, or the message of an exception. */
  readonly text: string;
  readonly [member: string]: string | number | boolean;
}

interface Pending {
  readonly request: ProgramRequest;
  /** `asked`: not known yet whether a result is kept. */
  state: "asked" | "kept" | "waiting" | "running";
  kept?: Kept;
  start?: (isOver: boolean) => void;
}

/** Parsing and checking a megabyte takes up to 20 ms. */
const MAX_CHARACTERS_AT_ONCE = 16_384;
/** Characters of the message of an exception. */
const MAX_MESSAGE_CHARACTERS = 10_000;

export class ProgramCalls {
  readonly #run: ProgramRun;
  readonly #tool: RunByName;
  readonly #limits: CallLimits;
  readonly #onSuspended: () => void;
  readonly #pending: Set<Pending> = new Set();
  readonly #numbers: Map<string, number> = new Map();
  readonly #finished: (() => void)[] = [];
  #admitted: Promise<void> = Promise.resolve();
  #lastTurn: Promise<void> = Promise.resolve();
  #isIdle = false;
  #isEnded = false;
  #lastOrder = 0;
  #running = 0;
  /** Bytes of the results that a further run needs. */
  keptBytes = 0;

  /** @param onSuspended called when a tool needs input of the client, which ends the run */
  constructor(run: ProgramRun, tool: RunByName, limits: CallLimits, onSuspended: () => void) {
    this.#run = run;
    this.#tool = tool;
    this.#limits = limits;
    this.#onSuspended = onSuspended;
  }

  request(request: ProgramRequest): void {
    if (this.#isEnded) return;
    this.#isIdle = false;
    const call: Pending = { request, state: "asked" };
    this.#pending.add(call);
    this.#admitted = this.#admitted.then(() => this.#admit(call));
  }

  /** Looks up what is kept of a call: one call after another, so that they are numbered in the same order in each run. */
  async #admit(call: Pending): Promise<void> {
    const { request } = call;
    await this.#turnFor(request);
    if (this.#isEnded) return;
    const input = parseInput(request.input);
    if (!input) {
      const text = "Invalid arguments: they must be one object, of at most 1 MiB";
      return this.#settle(call, { order: this.#lastOrder, isDone: false, text });
    }
    const key = await this.#keyOf(request);
    this.#run.context.once<Kept>(key, () => this.#make(call, key, input)).then(
      (kept) => {
        this.keptBytes += kept.text.length;
        if (call.state === "running") return this.#settle(call, kept);
        call.state = "kept";
        call.kept = kept;
        this.#advance();
      },
      (error) => {
        if (error instanceof Suspension) this.#onSuspended();
        this.#settle(call, { order: this.#lastOrder, isDone: false, text: "The program has ended" });
      },
    );
  }

  /** The program waits for answers. */
  onIdle(): void {
    this.#isIdle = true;
    this.#advance();
  }

  /** Resolves when all calls have an answer, also those that the program does not wait for. */
  async finish(): Promise<void> {
    while (this.#pending.size > 0 && !this.#isEnded) {
      const changed = new Promise<void>((resolve) => this.#finished.push(resolve));
      this.onIdle();
      await changed;
    }
  }

  /** Starts no further call. Those that run continue, as their results may be kept. */
  end(): void {
    this.#isEnded = true;
    for (const call of this.#pending) call.start?.(true);
    for (const resolve of this.#finished.splice(0)) resolve();
  }

  async #make(call: Pending, key: string, input: Readonly<Record<string, unknown>>): Promise<Kept> {
    call.state = "waiting";
    const isOver = this.#isEnded || await new Promise<boolean>((resolve) => {
      call.start = resolve;
      this.#advance();
    });
    if (isOver) throw new Error("The program has ended");
    await this.#turnFor(call.request);
    const { isDone, text } = await this.#call(call.request.name, key, input);
    return { order: ++this.#lastOrder, isDone, text };
  }

  /** A program may send a hundred calls with long arguments at once: each gets a turn of the event loop. */
  async #turnFor({ input }: ProgramRequest): Promise<void> {
    if (input.length > MAX_CHARACTERS_AT_ONCE) await (this.#lastTurn = this.#lastTurn.then(nextTurn));
  }

  async #call(
    name: string,
    key: string,
    input: Readonly<Record<string, unknown>>,
  ): Promise<{ isDone: boolean; text: string }> {
    try {
      const result = await this.#tool(name, input, new ProgramCall(this.#run, key));
      if (result.isError) return { isDone: false, text: shorten(toText(result) ?? "The tool failed") };
      const text = toJson(toValue(result)) ?? "null";
      const { callResultBytes } = this.#limits;
      if (new TextEncoder().encode(text).length <= callResultBytes) return { isDone: true, text };
      return {
        isDone: false,
        text: `The result of ${name} has more than ${callResultBytes} bytes. Ask for less`,
      };
    } catch (error) {
      if (error instanceof Suspension) throw error;
      return { isDone: false, text: shorten(error instanceof Error ? error.message : "The tool failed") };
    } finally {
      this.#running--;
    }
  }

  /** Answers the next kept result, or else starts calls, once the program waits and every call is looked up. */
  #advance(): void {
    if (!this.#isIdle || this.#isEnded) return;
    const all = [...this.#pending];
    if (all.some(({ state }) => state === "asked")) return;
    const next = all.filter(({ kept }) => kept).sort((a, b) => a.kept!.order - b.kept!.order)[0];
    if (next) return this.#settle(next, next.kept!);
    for (const call of all) {
      if (call.state !== "waiting" || !call.start || this.#running >= this.#limits.concurrentCalls) continue;
      call.state = "running";
      this.#running++;
      call.start(false);
    }
  }

  #settle(call: Pending, { order, isDone, text }: Pick<Kept, "order" | "isDone" | "text">): void {
    if (!this.#pending.delete(call)) return;
    this.#lastOrder = Math.max(this.#lastOrder, order);
    if (!this.#isEnded) {
      this.#isIdle = false;
      call.request.settle(isDone, text);
    }
    for (const resolve of this.#finished.splice(0)) resolve();
  }

  /** The same for the same call in each run; several with the same name and input are numbered. */
  async #keyOf({ name, input }: ProgramRequest): Promise<string> {
    const digest = encodeBase64url(await digestLarge(`${name}\n${input}`)).slice(0, 16);
    const number = (this.#numbers.get(digest) ?? 0) + 1;
    this.#numbers.set(digest, number);
    return `${name}:${digest}:${number}`;
  }
}

function shorten(message: string): string {
  return message.length <= MAX_MESSAGE_CHARACTERS ? message : `${message.slice(0, MAX_MESSAGE_CHARACTERS)} …`;
}

function parseInput(text: string): Record<string, unknown> | undefined {
  try {
    const input: unknown = JSON.parse(text);
    return isObject(input) ? input : undefined;
  } catch {
    return undefined;
  }
}

/** What a program gets for a result: structured content, else its text, else its content items. */
function toValue(result: ToolResult): unknown {
  return result.structuredContent !== undefined ? result.structuredContent : toText(result) ?? result.content;
}

function toText({ content }: ToolResult): string | undefined {
  const texts = content.flatMap((item) => item.type === "text" ? [item.text] : []);
  return texts.length === content.length ? texts.join("\n") : undefined;
}

/** Bytes of results that a request for input may keep: they travel to the client and back (`bodyLimit`). */
const MAX_KEPT_BYTES = 1_048_576;

/** @throws {ToolError} */
export function checkKeptBytes(bytes: number): void {
  if (bytes <= MAX_KEPT_BYTES) return;
  throw new ToolError(
    "The program has too many results to ask the user now. Call the tool that asks first, or in a program of its own",
  );
}
