/**
 * The body of `POST /v1/messages` (https://docs.anthropic.com/en/api/messages), as far as Trivet acts on it. Unknown
 * members are kept: the model endpoint validates them.
 *
 * @module
 */
import { findExcess } from "../../http/body/json_text.ts";
import { LARGE_TEXT_CHARACTERS, MAX_JSON_DEPTH } from "../../http/body/small_json.ts";
import { nextTurn } from "../../http/next_turn.ts";
import { SkillError } from "../error.ts";

/** A content block: its type, and the members of that type. */
export interface Block {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** One message of the conversation. */
export interface Turn {
  readonly role: string;
  readonly content: string | readonly Block[];
}

/** A tool of the request: one of the client's own (without `type`, or `custom`), or one that the API runs. */
export interface Tool {
  readonly name: string;
  readonly type?: string;
  readonly [member: string]: unknown;
}

export type Members = Readonly<Record<string, unknown>>;

export interface MessagesBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly Turn[];
  readonly system?: string | readonly Block[];
  readonly tools?: readonly Tool[];
  readonly stream?: boolean;
  readonly [member: string]: unknown;
}

/** The body as an object. @throws {SkillError} when it is not a JSON object, or has too many values */
export async function parseBody(text: string): Promise<Members> {
  const isLarge = text.length > LARGE_TEXT_CHARACTERS;
  if (isLarge) await nextTurn();
  const excess = findExcess(text);
  if (excess === "depth") {
    throw new SkillError(
      "invalid_request_error",
      `The request body is nested more than ${MAX_JSON_DEPTH} levels deep`,
    );
  }
  if (excess) {
    throw new SkillError(
      "request_too_large",
      "The request body has too many values. Send fewer messages or content blocks.",
    );
  }
  if (isLarge) await nextTurn();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new SkillError("invalid_request_error", "The request body must be JSON");
  }
  if (isLarge) await nextTurn();
  if (!isObject(body)) {
    throw new SkillError("invalid_request_error", "The request body must be a JSON object");
  }
  return body;
}

/** Checks every member that Trivet acts on. @throws {SkillError} that names the member */
export function checkBody(body: Members): MessagesBody {
  const { model, max_tokens, messages, system, tools, stream } = body;
  if (typeof model !== "string" || model === "") throw invalid("model", "must be a model name");
  if (!Number.isSafeInteger(max_tokens) || (max_tokens as number) < 0) {
    throw invalid("max_tokens", "must be a non-negative integer");
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalid("messages", "must be an array of at least one message");
  }
  messages.forEach(checkTurn);
  if (system !== undefined && typeof system !== "string") checkBlocks("system", system);
  if (tools !== undefined) checkTools(tools);
  if (stream !== undefined && typeof stream !== "boolean") throw invalid("stream", "must be true or false");
  return body as MessagesBody;
}

function checkTurn(turn: unknown, index: number): void {
  const place = `messages.${index}`;
  if (!isObject(turn)) throw invalid(place, "must be an object with role and content");
  const { role, content } = turn;
  if (role !== "user" && role !== "assistant" && role !== "system") {
    throw invalid(`${place}.role`, 'must be "user" or "assistant"');
  }
  if (typeof content !== "string") checkBlocks(`${place}.content`, content);
}

function checkBlocks(place: string, blocks: unknown): void {
  if (!Array.isArray(blocks)) throw invalid(place, "must be a string or an array of content blocks");
  blocks.forEach((block, index) => {
    const at = `${place}.${index}`;
    if (!isObject(block) || typeof block.type !== "string") {
      throw invalid(at, "must be an object with a type");
    }
    if (block.type === "text" && typeof block.text !== "string") {
      throw invalid(`${at}.text`, "must be a string");
    }
  });
}

function checkTools(tools: unknown): void {
  if (!Array.isArray(tools)) throw invalid("tools", "must be an array");
  tools.forEach((tool, index) => {
    const at = `tools.${index}`;
    if (!isObject(tool)) throw invalid(at, "must be an object");
    // Tools that the API runs may omit the name.
    const { name, type } = tool;
    if (typeof name !== "string" && typeof type !== "string") throw invalid(`${at}.name`, "must be a string");
    if (type !== undefined && type !== null && typeof type !== "string") {
      throw invalid(`${at}.type`, "must be a string");
    }
  });
}

/** @param place the member as a path with dots, as in the Messages API: `messages.0.content` */
export function invalid(place: string, rule: string): SkillError {
  return new SkillError("invalid_request_error", `${place}: ${rule}`);
}

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
