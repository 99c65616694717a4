/**
 * JSON-RPC 2.0 messages (https://www.jsonrpc.org/specification): telling what a JSON value is, and writing answers.
 *
 * @module
 */
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
 * Lists and objects inside each other (RFC 8259 §9: "An implementation may set limits on the maximum depth of nesting").
 * What walks through a value, JSON.stringify too, would run out of stack some thousands further down.
 */
const DEEPEST = 512;

/**
 * The JSON value of a message or batch.
 * @throws {RpcError} -32700 when the text is no JSON, or is nested more than 512 deep
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RpcError(PARSE_ERROR, "Parse error: the message is not JSON", undefined, { cause });
  }
  // Each level takes two characters, so most messages are too short to be looked at.
  if (text.length > 2 * DEEPEST && isDeep(value)) {
    throw new RpcError(PARSE_ERROR, `Parse error: the message is nested more than ${DEEPEST} deep`);
  }
  return value;
}

function isDeep(value: unknown, left: number = DEEPEST): boolean {
  if (typeof value !== "object" || value === null) return false;
  return left === 0 || Object.values(value).some((each) => isDeep(each, left - 1));
}

/** What the value is. A batch is not one message: see `dispatch.ts`. */
export function readMessage(value: unknown): Message {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { kind: "invalid", id: null, reason: "a message must be an object" };
  }
  const { jsonrpc, id, method, params, result, error } = value as Record<string, unknown>;
  // JSON.parse makes Infinity of 1e999, which no answer could repeat.
  const known = id === null || typeof id === "string" || typeof id === "number" && Number.isFinite(id);
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
  if (!known) return { kind: "invalid", id: null, reason: "id must be a string, a number or null" };
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
