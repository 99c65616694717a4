/**
 * JSON-RPC 2.0 messages (https://www.jsonrpc.org/specification): telling what a JSON value is, and writing answers.
 *
 * @module
 */
import { findExcess, LARGE_TEXT_CHARACTERS, MAX_JSON_DEPTH } from "../http/body/json_text.ts";
import { nextTurn } from "../http/work_slice.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "./error.ts";

/** Null stands only in answers to messages whose id could not be read. */
export type Id = string | number | null;

/** The id of an answer; `undefined` leaves it out, as MCP does since 2025-11-25 where there is none to repeat. */
export type AnswerId = Id | undefined;

/** Parameters by name or by position. */
export type Params = Readonly<Record<string, unknown>> | readonly unknown[] | undefined;

export interface Request {
  readonly kind: "request";
  readonly id: Id;
  readonly method: string;
  readonly params: Params;
}

export interface Notification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: Params;
}

/** An answer to a request of ours: a result or an error object, as it came. */
export interface Answer {
  readonly kind: "answer";
  readonly id: Id;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** What is none of these; `id` is its id where that can be read. */
export interface Invalid {
  readonly kind: "invalid";
  readonly id: Id;
  readonly reason: string;
}

export type Message = Request | Notification | Answer | Invalid;

/** An answer of ours. `json` is a result that is JSON text already. */
export type Response =
  | { readonly id: AnswerId; readonly result: unknown }
  | { readonly id: AnswerId; readonly json: string }
  | { readonly id: AnswerId; readonly error: RpcError };

/** A result that was written as JSON text before the request came. */
export class WrittenResult {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}

/**
 * The JSON value of a message or batch.
 * @throws {RpcError} -32700 when the text is no JSON, or is nested more than 512 deep; -32600 when it has too many values
 */
export function parseJson(text: string): unknown {
  // Each level takes two characters, so most messages are too short to be looked at.
  if (text.length > 2 * MAX_JSON_DEPTH) refuseExcess(text);
  return parse(text);
}

/** As {@linkcode parseJson}; for a large text a promise, so that it does not hold the event loop all the while. */
export function parseJsonInTurns(text: string): unknown {
  return text.length < LARGE_TEXT_CHARACTERS ? parseJson(text) : parseLargeJson(text);
}

async function parseLargeJson(text: string): Promise<unknown> {
  await nextTurn();
  refuseExcess(text);
  await nextTurn();
  const value = parse(text);
  await nextTurn();
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RpcError(PARSE_ERROR, "Parse error: invalid JSON", undefined, { cause });
  }
}

function refuseExcess(text: string): void {
  const excess = findExcess(text);
  if (excess === "depth") {
    throw new RpcError(PARSE_ERROR, `Parse error: too deeply nested. Maximum: ${MAX_JSON_DEPTH} levels`);
  }
  if (excess) throw new RpcError(INVALID_REQUEST, "Invalid Request: too many JSON values in one message");
}

/** An id comes back with all that belongs to its request, and is stored with streams. */
export const MAX_ID_CHARACTERS = 1024;

/** What the value is. A batch is not one message: see `dispatch.ts`. */
export function readMessage(value: unknown): Message {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { kind: "invalid", id: null, reason: "a message must be an object" };
  }
  const { jsonrpc, id, method, params, result, error } = value as Record<string, unknown>;
  // JSON.parse makes Infinity of 1e999, which no answer could repeat.
  const known = id === null || typeof id === "string" && id.length <= MAX_ID_CHARACTERS ||
    typeof id === "number" && Number.isFinite(id);
  const answerId = known ? id as Id : null;
  if (jsonrpc !== "2.0") return { kind: "invalid", id: answerId, reason: 'jsonrpc must be "2.0"' };
  if (method === undefined) {
    const isAnswer = known && ("result" in value) !== ("error" in value);
    return isAnswer
      ? { kind: "answer", id: answerId, result, error }
      : { kind: "invalid", id: answerId, reason: "method is missing" };
  }
  if (typeof method !== "string") return { kind: "invalid", id: answerId, reason: "method must be a string" };
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    return { kind: "invalid", id: answerId, reason: "params must be an object or an array" };
  }
  if (id === undefined) return { kind: "notification", method, params: params as Params };
  if (!known) {
    const reason = `id must be a string of at most ${MAX_ID_CHARACTERS} characters, a number or null`;
    return { kind: "invalid", id: null, reason };
  }
  return { kind: "request", id: answerId, method, params: params as Params };
}

/** The error that answers an invalid message. */
export function invalidRequest({ id, reason }: Invalid): Response {
  return { id, error: new RpcError(INVALID_REQUEST, `Invalid Request: ${reason}`) };
}

/** The JSON text of an answer. */
export function writeResponse(response: Response): string {
  const head = response.id === undefined
    ? '{"jsonrpc":"2.0",'
    : `{"jsonrpc":"2.0","id":${writeId(response.id)},`;
  if ("json" in response) return `${head}"result":${response.json}}`;
  if ("result" in response) return `${head}"result":${JSON.stringify(response.result) ?? "null"}}`;
  const { code, message, data } = response.error;
  return `${head}"error":${JSON.stringify({ code, message, data })}}`;
}

/** The JSON text of the answer to a batch. */
export function writeResponses(responses: readonly Response[]): string {
  return `[${responses.map(writeResponse).join(",")}]`;
}

function writeId(id: Id): string {
  return typeof id === "number" ? String(id) : JSON.stringify(id);
}
