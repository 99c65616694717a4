/**
 * The model of a server without a model endpoint: it loads the skills whose words match the task, and answers with what it
 * loaded. It implements the Messages API, knows only the request, and is deterministic. It calls no tools of the client.
 *
 * @module
 */
import { sha256 } from "../../crypto/sha256.ts";
import { LARGE_TEXT_CHARACTERS } from "../../http/body/small_json.ts";
import { nextTurn } from "../../http/next_turn.ts";
import { encodeBase64url } from "../../crypto/base64url.ts";
import { digestLarge } from "../../crypto/large_digest.ts";
import { estimateTokens } from "../package/tokens.ts";
import { readCatalogue } from "./catalogue.ts";
import { type StreamEvent, writeEvent } from "./model_events.ts";
import type { Block, MessagesBody, Tool, Turn } from "./request.ts";
import { type Loaded, readTask, writeAnswer } from "./scripted_answer.ts";
import type { AskModel } from "./upstream.ts";
import { type Match, matchSkills } from "./word_match.ts";

/** Skills, or files, that one round loads. */
const MAX_LOADED_SKILLS = 3;
/** Characters of one event of a stream. */
const CHARACTERS_PER_EVENT = 48;

/** Creates the model: it responds in the format of a model endpoint. */
export function askScriptedModel(): AskModel {
  return async ({ body, stream }) => {
    const whole = encodeBase64url(await digestLarge(body));
    const digest = (purpose: string): string =>
      encodeBase64url(sha256(purpose + whole)).replace(/[\W_]/g, "0");
    const request = JSON.parse(body) as MessagesBody;
    const isLarge = body.length > LARGE_TEXT_CHARACTERS;
    if (isLarge) await nextTurn();
    // Writing a large request again would hold the event loop, and the members that are no input count little there.
    const input = isLarge ? body : JSON.stringify([request.system, request.tools, request.messages]);
    const message = answer(request, estimateTokens(input), digest);
    const text = stream ? toStream(message).map(writeEvent).join("") : JSON.stringify(message);
    return { type: stream ? "text/event-stream" : "application/json", chunks: oneChunk(text) };
  };
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

interface Message {
  readonly content: readonly Block[];
  readonly usage: Readonly<Record<string, number>>;
  readonly [member: string]: unknown;
}

/**
 * @param input_tokens of the request
 * @param digest makes a text of letters and digits that differs with its argument and the request
 */
function answer(request: MessagesBody, input_tokens: number, digest: (purpose: string) => string): Message {
  const skills = readCatalogue(textOf(request.system));
  const tools = findTools(request.tools ?? [], skills.map(({ name }) => name));
  const task = readTask(request.messages);
  const matches = matchSkills(task.text, skills).slice(0, MAX_LOADED_SKILLS);
  // Skills that share few words are not loaded beside one that shares many.
  const chosen = matches.filter(({ score }) => score * 2 >= matches[0]!.score);
  const loaded = findLoaded(request.messages);
  const calls = tools ? findNextCalls(chosen, skills, loaded, task.text, tools, task.rounds) : [];
  const content: Block[] = calls.length > 0
    ? [
      { type: "text", text: `Loading ${calls.map(({ what }) => what).join(", ")}.` },
      ...calls.map(({ name, input }, index) => ({
        type: "tool_use",
        id: `toolu_01${digest(`call ${index}`).slice(0, 22)}`,
        name,
        input,
      })),
    ]
    : [{ type: "text", text: writeAnswer(task.text, skills, chosen, loaded) }];
  const { blocks, stop_reason, stop_sequence } = applyStops(content, request);
  return {
    id: `msg_01${digest("message").slice(0, 22)}`,
    type: "message",
    role: "assistant",
    model: request.model,
    content: blocks,
    stop_reason,
    stop_sequence,
    container: null,
    usage: {
      input_tokens,
      output_tokens: estimateTokens(blocks.map(textOfBlock).join("")),
    },
  };
}

interface SkillTools {
  readonly load: string;
  readonly read: string;
}

/** The two tools. A suffix may follow their names; they are recognized by the names of the catalogue in their schema. */
function findTools(tools: readonly Tool[], names: readonly string[]): SkillTools | undefined {
  const find = (word: string): string | undefined =>
    tools.findLast(({ name, input_schema }) => {
      const schema = input_schema as { properties?: { name?: { enum?: unknown } } } | undefined;
      return typeof name === "string" && name.startsWith(word) &&
        JSON.stringify(schema?.properties?.name?.enum) === JSON.stringify(names);
    })?.name;
  const load = find("load_skill");
  const read = find("read_skill_file");
  return load !== undefined && read !== undefined ? { load, read } : undefined;
}

interface NextCall {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
  readonly what: string;
}

/** First the skills that are not loaded, then those of their files that the task names. */
function findNextCalls(
  chosen: readonly Match[],
  skills: readonly { readonly name: string }[],
  loaded: readonly Loaded[],
  task: string,
  tools: SkillTools,
  rounds: number,
): NextCall[] {
  const names = chosen.map(({ index }) => skills[index]!.name);
  const missing = names.filter((name) =>
    !loaded.some((each) => each.name === name && each.path === undefined)
  );
  // A load that failed is not retried.
  if (missing.length > 0 && rounds === 0) {
    return missing.map((name) => ({ name: tools.load, input: { name }, what: `the skill ${name}` }));
  }
  if (rounds > 1) return [];
  return loaded.filter(({ name, path }) => path === undefined && names.includes(name)).flatMap((
    { name, files },
  ) =>
    files.filter((path) => {
      const isRead = loaded.some((each) => each.name === name && each.path === path);
      return !isRead && (task.includes(path) || task.includes(path.split("/").at(-1)!));
    }).map((path) => ({ name: tools.read, input: { name, path }, what: `${path} of ${name}` }))
  ).slice(0, MAX_LOADED_SKILLS);
}

/** All instructions and files of skills in the conversation. */
function findLoaded(turns: readonly Turn[]): Loaded[] {
  const calls = new Map<string, Readonly<Record<string, unknown>>>();
  const loaded: Loaded[] = [];
  for (const { content } of turns) {
    if (typeof content === "string") continue;
    for (const block of content) {
      if (block.type === "tool_use") calls.set(String(block.id), block.input as Record<string, unknown>);
      const call = block.type === "tool_result" ? calls.get(String(block.tool_use_id)) : undefined;
      if (typeof call?.name !== "string" || block.is_error === true) continue;
      const text = typeof block.content === "string" ? block.content : "";
      if (typeof call.path === "string") loaded.push({ name: call.name, path: call.path, text, files: [] });
      else if (text.startsWith("<skill_content ")) {
        const files = Array.from(text.matchAll(/^<file bytes="\d+">(.*)<\/file>$/gm), ([, path]) => path!);
        loaded.push({ name: call.name, path: undefined, text, files });
      }
    }
  }
  return loaded;
}

/** Applies `stop_sequences` and `max_tokens` as the Messages API does. */
function applyStops(
  content: readonly Block[],
  { stop_sequences, max_tokens }: MessagesBody,
): { blocks: readonly Block[]; stop_reason: string; stop_sequence: string | null } {
  const text = String(content[0]!.text);
  const found = (Array.isArray(stop_sequences) ? stop_sequences : [])
    .filter((sequence): sequence is string => typeof sequence === "string" && sequence !== "")
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at)[0];
  const kept = found ? text.slice(0, found.at) : text;
  const blocks = (text: string): Block[] => text === "" ? [] : [{ type: "text", text }];
  if (estimateTokens(kept) > max_tokens) {
    return {
      blocks: blocks(kept.slice(0, max_tokens).toWellFormed()),
      stop_reason: "max_tokens",
      stop_sequence: null,
    };
  }
  if (found) return { blocks: blocks(kept), stop_reason: "stop_sequence", stop_sequence: found.sequence };
  return { blocks: content, stop_reason: content.length > 1 ? "tool_use" : "end_turn", stop_sequence: null };
}

function toStream({ content, usage, stop_reason, stop_sequence, ...message }: Message): StreamEvent[] {
  const events: StreamEvent[] = [{
    type: "message_start",
    message: {
      ...message,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    },
  }];
  content.forEach((block, index) => {
    const isText = block.type === "text";
    const whole = isText ? String(block.text) : JSON.stringify(block.input);
    const start = isText ? { ...block, text: "" } : { ...block, input: {} };
    events.push({ type: "content_block_start", index, content_block: start });
    for (const piece of whole.match(new RegExp(`.{1,${CHARACTERS_PER_EVENT}}`, "gsu")) ?? []) {
      const delta = isText
        ? { type: "text_delta", text: piece }
        : { type: "input_json_delta", partial_json: piece };
      events.push({ type: "content_block_delta", index, delta });
    }
    events.push({ type: "content_block_stop", index });
  });
  const { output_tokens } = usage;
  events.push({ type: "message_delta", delta: { stop_reason, stop_sequence }, usage: { output_tokens } });
  events.push({ type: "message_stop" });
  return events;
}

function textOf(content: string | readonly Block[] | undefined): string {
  return typeof content === "string" ? content : (content ?? []).map(textOfBlock).join("\n");
}

function textOfBlock({ text, input }: Block): string {
  return typeof text === "string" ? text : JSON.stringify(input ?? "");
}
