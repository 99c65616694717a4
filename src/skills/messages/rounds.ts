/**
 * The disclosure loop: asks the model, answers its calls for skills, and asks again until the model is done. The client sees
 * all rounds as one message.
 *
 * @module
 */
import { SkillError } from "../error.ts";

import { failure, type ViewAnswers } from "./view_answers.ts";
import {
  BlockAssembly,
  ENDED_EARLY,
  eventsOf,
  invalidResponse,
  type ModelAnswer,
  type StreamEvent,
} from "./model_events.ts";
import type { ModelRequest } from "./model_request.ts";
import { type Block, isObject, type Members } from "./request.ts";
import { addUsage, countOf, replaceUsage } from "./token_usage.ts";
import { toClientId, type View, VIEW_RESULT, VIEW_TOOL, viewOfCall, writeViewInput } from "./view.ts";

export interface Exchange {
  readonly request: ModelRequest;
  readonly answers: ViewAnswers;
  /** The `container` member of the response. */
  readonly container: Members;
  readonly ask: (body: string) => Promise<ModelAnswer>;
  /** Called when a skill cannot be loaded; the model gets an error result. */
  readonly onFault: (error: unknown) => void;
  /** Maximum number of model calls. */
  readonly mostRounds: number;
}

/** A call for a skill that the model made. */
interface Call {
  readonly id: string;
  readonly view: View | undefined;
}

/** Stop reasons that end the message even if the model called for skills. */
const FINAL = new Set(["max_tokens", "model_context_window_exceeded", "refusal", "pause_turn"]);

/** The events of the one message. @param first the answer to the request of round 0 */
export async function* converse(exchange: Exchange, first: ModelAnswer): AsyncGenerator<StreamEvent> {
  const { request, answers, container, ask, onFault, mostRounds } = exchange;
  const content: Block[] = [];
  const ids = new Set<string>();
  let usage: Members | undefined;
  for (let round = 0, answer = first;; round++) {
    const reading = new Round(exchange, content, ids);
    for await (const event of eventsOf(answer)) {
      if (event.type === "message_start") {
        reading.begin(event.message);
        const { message } = event as { message?: unknown };
        if (round === 0) yield { ...event, message: { ...isObject(message) ? message : {}, container } };
      } else yield* reading.handle(event);
    }
    if (!reading.isWhole) {
      throw new SkillError("api_error", ENDED_EARLY, { status: 502 });
    }
    for (const { id, view } of reading.calls) {
      const result = await answers.answer(view).catch((error) => {
        onFault(error);
        return failure("unavailable", "The skill cannot be read at the moment");
      });
      yield* emit(content, { type: VIEW_RESULT, tool_use_id: id, content: result });
    }
    usage = usage ? addUsage(usage, reading.usage) : reading.usage;
    const { delta } = reading;
    const end = (stop: Members = {}): StreamEvent[] => [
      {
        type: "message_delta",
        delta: { ...delta, ...stop, container },
        usage: round === 0 ? reading.last : usage,
      },
      { type: "message_stop" },
    ];
    if (reading.calls.length === 0 || reading.hasClientCall || FINAL.has(String(delta.stop_reason))) {
      return yield* end();
    }
    const outputTokens = countOf(usage, "output_tokens");
    const stop = round + 1 >= mostRounds ? "pause_turn" : request.findTokenStop(outputTokens);
    if (stop) return yield* end({ stop_reason: stop, stop_sequence: null });
    answer = await ask(request.write(content, round + 1, outputTokens));
  }
}

/** One response of the model: separates events for the client from calls for skills. */
class Round {
  readonly calls: Call[] = [];
  hasClientCall = false;
  /** Whether `message_stop` was received. */
  isWhole = false;
  delta: Members = { stop_reason: null, stop_sequence: null };
  /** Usage of the whole response, and of its last event. */
  usage: Members = {};
  last: Members = {};
  readonly #names: ModelRequest["names"];
  readonly #content: Block[];
  readonly #ids: Set<string>;
  /** Unfinished blocks by the model's index; a call for a skill has no index in the client's message. */
  readonly #open = new Map<
    unknown,
    { readonly assembly: BlockAssembly; readonly index: number | undefined }
  >();

  /** @param content the message so far @param ids of all calls of the message */
  constructor({ request }: Exchange, content: Block[], ids: Set<string>) {
    this.#names = request.names;
    this.#content = content;
    this.#ids = ids;
  }

  begin(message: unknown): void {
    if (!isObject(message)) throw invalidResponse();
    this.usage = replaceUsage({}, message.usage);
  }

  *handle(event: StreamEvent): Generator<StreamEvent> {
    if (event.type === "content_block_start") yield* this.#start(event);
    else if (event.type === "content_block_delta") yield* this.#add(event);
    else if (event.type === "content_block_stop") yield* this.#stop(event);
    else if (event.type === "message_delta") {
      this.delta = { ...this.delta, ...isObject(event.delta) ? event.delta : {} };
      this.last = replaceUsage(this.last, event.usage);
      this.usage = replaceUsage(this.usage, event.usage);
    } else if (event.type === "message_stop") this.isWhole = true;
    else yield event;
  }

  *#start(event: StreamEvent): Generator<StreamEvent> {
    const block = event.content_block as Block;
    if (!isObject(block) || typeof block.type !== "string") throw invalidResponse();
    const assembly = new BlockAssembly(block);
    if (this.#kindOf(block)) {
      this.#open.set(event.index, { assembly, index: undefined });
      return;
    }
    if (block.type === "tool_use") this.hasClientCall = true;
    // Reserves its position; #stop() replaces it by the whole block.
    const index = this.#content.push(block) - 1;
    this.#open.set(event.index, { assembly, index });
    yield { ...event, index };
  }

  *#add(event: StreamEvent): Generator<StreamEvent> {
    const open = this.#open.get(event.index);
    if (!open) throw invalidResponse();
    open.assembly.add(event.delta);
    if (open.index !== undefined) yield { ...event, index: open.index };
  }

  *#stop(event: StreamEvent): Generator<StreamEvent> {
    const open = this.#open.get(event.index);
    if (!open) throw invalidResponse();
    this.#open.delete(event.index);
    const block = open.assembly.end();
    if (open.index !== undefined) {
      this.#content[open.index] = block;
      return yield { ...event, index: open.index };
    }
    const view = viewOfCall(this.#kindOf(block)!, block.input);
    const id = this.#newId(block.id);
    this.calls.push({ id, view });
    const input = writeViewInput(view);
    yield* emit(this.#content, {
      type: "server_tool_use",
      id,
      name: VIEW_TOOL,
      input,
      caller: { type: "direct" },
    });
  }

  /** Which of the two tools a block calls; `undefined` for any other block. */
  #kindOf({ type, name }: Block): "load" | "read" | undefined {
    if (type !== "tool_use") return undefined;
    return name === this.#names.load ? "load" : name === this.#names.read ? "read" : undefined;
  }

  /** A unique id: some endpoints reuse call ids in each response, or omit them. */
  #newId(id: unknown): string {
    const own = typeof id === "string" && id !== "" ? id : "call";
    let given = toClientId(own);
    for (let number = 2; this.#ids.has(given); number++) given = toClientId(`${own}_${number}`);
    this.#ids.add(given);
    return given;
  }
}

/** Appends a block of Trivet's own and yields its events. Input is a delta, as in streams of the hosted API. */
function* emit(content: Block[], block: Block): Generator<StreamEvent> {
  const index = content.push(block) - 1;
  const isCall = block.type === "server_tool_use";
  yield { type: "content_block_start", index, content_block: isCall ? { ...block, input: {} } : block };
  if (isCall) {
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    yield { type: "content_block_delta", index, delta };
  }
  yield { type: "content_block_stop", index };
}
