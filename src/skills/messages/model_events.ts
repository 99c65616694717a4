/**
 * A model's response as events of the Messages API (https://docs.anthropic.com/en/api/messages-streaming), streamed or not,
 * and events assembled to a message, so that both kinds share one code path.
 *
 * @module
 */
import { collectBytes } from "../../http/body/byte_buffer.ts";
import { SkillError } from "../error.ts";
import { readEvents } from "./event_reader.ts";
import { type Block, isObject, type Members } from "./request.ts";
import { replaceUsage } from "./token_usage.ts";

/** A response of a model endpoint. */
export interface ModelAnswer {
  readonly type: "text/event-stream" | "application/json";
  /** Read it once. Rejects with a {@linkcode SkillError} when the endpoint ends early or times out. */
  readonly chunks: AsyncGenerator<Uint8Array>;
}

export interface StreamEvent {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The events, including `ping` and unknown ones. @throws {SkillError} for an `error` event or an invalid response */
export async function* eventsOf({ type, chunks }: ModelAnswer): AsyncGenerator<StreamEvent> {
  if (type === "application/json") {
    yield* toEvents(parse(await readAll(chunks)));
    return;
  }
  for await (const { data } of readEvents(chunks)) {
    // Endpoints that also serve other APIs end every stream with this.
    if (data === "[DONE]") continue;
    const event = parse(data);
    if (event.type === "error") throw toError(event.error);
    yield event as StreamEvent;
  }
}

/** The whole response as text. @throws {SkillError} when it is not UTF-8 */
export async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = await collectBytes(chunks);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidResponse();
  }
}

function parse(text: string): Members & { readonly type: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && typeof value.type === "string") {
      return value as Members & { readonly type: string };
    }
  } catch {
    // Reported below.
  }
  throw invalidResponse();
}

export function invalidResponse(): SkillError {
  return new SkillError("api_error", "The response of the model endpoint is not a message", { status: 502 });
}

/** The message for a response that ends before `message_stop`. */
export const ENDED_EARLY = "The model endpoint ended its response early";

/** Error types that are passed on, with their status, so that clients wait and retry. */
const FORWARDED_ERRORS = { overloaded_error: 529, rate_limit_error: 429, timeout_error: 504 } as const;

/** The error of an `error` event. */
function toError(error: unknown): SkillError {
  const { type, message } = isObject(error) ? error : {};
  const kind = typeof type === "string" && Object.hasOwn(FORWARDED_ERRORS, type)
    ? type as keyof typeof FORWARDED_ERRORS
    : "api_error";
  const text = typeof message === "string" ? message.slice(0, 1000).toWellFormed() : "no message";
  return new SkillError(kind, `The model endpoint failed during its response: ${text}`, {
    status: kind === "api_error" ? 502 : FORWARDED_ERRORS[kind],
  });
}

/** A message as stream events, with whole blocks. */
function* toEvents(message: Members): Generator<StreamEvent> {
  const { content, stop_reason = null, stop_sequence = null, stop_details = null, usage } = message;
  if (message.type !== "message" || !Array.isArray(content)) throw invalidResponse();
  yield {
    type: "message_start",
    message: { ...message, content: [], stop_reason: null, stop_sequence: null },
  };
  for (const [index, block] of content.entries()) {
    yield { type: "content_block_start", index, content_block: block };
    yield { type: "content_block_stop", index };
  }
  const delta = { stop_reason, stop_sequence, ...(stop_details !== null && { stop_details }) };
  yield { type: "message_delta", delta, usage: usage ?? {} };
  yield { type: "message_stop" };
}

/** Assembles a block from its deltas. */
export class BlockAssembly {
  #block: Record<string, unknown>;
  #json = "";
  #citations: unknown[] | undefined;

  constructor(block: Block) {
    this.#block = { ...block };
  }

  add(delta: unknown): void {
    if (!isObject(delta)) return;
    const block = this.#block;
    if (delta.type === "input_json_delta") this.#json += String(delta.partial_json ?? "");
    else if (delta.type === "citations_delta") {
      // Copied once, so that the event's own array stays unchanged.
      if (!this.#citations) {
        this.#citations = Array.isArray(block.citations) ? [...block.citations] : [];
        block.citations = this.#citations;
      }
      this.#citations.push(delta.citation);
    } else {
      // Text, thinking, signatures and future kinds: strings are appended, other values replaced.
      for (const [name, value] of Object.entries(delta)) {
        if (name === "type") continue;
        const before = block[name] ?? "";
        block[name] = typeof value === "string" && typeof before === "string" ? before + value : value;
      }
    }
  }

  /** The block. Its input is `undefined` if it is not JSON, because the response was cut off. */
  end(): Block {
    if (this.#json !== "") {
      try {
        this.#block.input = JSON.parse(this.#json);
      } catch {
        this.#block.input = undefined;
      }
    }
    return this.#block as unknown as Block;
  }
}

/** Assembles events to a message. @throws {SkillError} without a `message_start` event */
export async function toMessage(events: AsyncIterable<StreamEvent>): Promise<Members> {
  let message: Members | undefined;
  const blocks: BlockAssembly[] = [];
  for await (const event of events) {
    const index = event.index as number;
    if (event.type === "message_start") message = event.message as Members;
    else if (event.type === "content_block_start") {
      blocks[index] = new BlockAssembly(event.content_block as Block);
    } else if (event.type === "content_block_delta") blocks[index]?.add(event.delta);
    else if (event.type === "message_delta" && message) {
      const usage = replaceUsage(message.usage, event.usage);
      message = { ...message, ...event.delta as Members, usage };
    }
  }
  if (!message) throw invalidResponse();
  return { ...message, content: blocks.map((block) => finish(block.end())) };
}

/** Replaces input that was cut off by an empty object. */
function finish(block: Block): Block {
  return block.type === "tool_use" && block.input === undefined ? { ...block, input: {} } : block;
}

/** An event as bytes of a stream. */
export function writeEvent(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
