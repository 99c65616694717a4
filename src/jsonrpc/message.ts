/**
 * Reads and writes JSON-RPC 2.0 messages (https://www.jsonrpc.org/specification).
 *
 * @module
 */
import { isSmallJson, LARGE_TEXT_CHARACTERS } from "../http/body/small_json.ts";
import { nextTurn } from "../http/next_turn.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "./error.ts";
import { toJson } from "./to_json.ts";

/** Null only in responses to messages whose id could not be read. */
export type Id = string | number | null;

/** The id of a response; `undefined` leaves it out, as MCP does since 2025-11-25 when the id is unknown. */
export type ResponseId = Id | undefined;

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

/** A response from the client to a request of the server. `error` is not validated. */
export interface ClientResponse {
  readonly kind: "response";
  readonly id: Id;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** An invalid message, with its id if that is valid. */
export interface Invalid {
  readonly kind: "invalid";
  readonly id: Id;
  readonly reason: string;
}

export type Message = Request | Notification | ClientResponse | Invalid;

/** A response of the server. `json` is a result that is already JSON text. */
export type Response =
  | { readonly id: ResponseId; readonly result: unknown }
  | { readonly id: ResponseId; readonly json: string }
  | { readonly id: ResponseId; readonly error: RpcError };

/** A result that was written as JSON text in advance. */
export class WrittenResult {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}

/**
 * The JSON value of a message or batch. Returns a promise for one that is not small, whose check loads at the first and
 * which yields the event loop between its steps.
 * @throws {RpcError} as `parseJson`, also by the promise
 */
export function parseJsonInTurns(text: string): unknown {
  return isSmallJson(text) ? parseSmallJson(text) : parseInTurns(text);
}

async function parseInTurns(text: string): Promise<unknown> {
  const { checkJsonInTurns } = await import("./json_limits.ts");
  await checkJsonInTurns(text);
  const value = parseSmallJson(text);
  if (text.length > LARGE_TEXT_CHARACTERS) await nextTurn();
  return value;
}

/** For a text that is small (`isSmallJson`) or was checked. @throws {RpcError} -32700 */
export function parseSmallJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RpcError(PARSE_ERROR, "Parse error: invalid JSON", undefined, { cause });
  }
}

/** An id is repeated in every message of its request and stored with its stream. */
export const MAX_ID_CHARACTERS = 1024;

/** Whether a value is a number that a response can repeat: JSON.parse rounds integers beyond 2^53, and makes 1e999 Infinity. */
export function isExact(value: unknown): boolean {
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** The message in a JSON value. Batches are read message by message: see `dispatchBatch`. */
export function readMessage(value: unknown): Message {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { kind: "invalid", id: null, reason: "a message must be an object" };
  }
  const { jsonrpc, id, method, params, result, error } = value as Record<string, unknown>;
  const isValidId = id === null || typeof id === "string" && id.length <= MAX_ID_CHARACTERS || isExact(id);
  const responseId = isValidId ? id as Id : null;
  if (jsonrpc !== "2.0") return { kind: "invalid", id: responseId, reason: 'jsonrpc must be "2.0"' };
  if (method === undefined) {
    const isResponse = isValidId && ("result" in value) !== ("error" in value);
    return isResponse
      ? { kind: "response", id: responseId, result, error }
      : { kind: "invalid", id: responseId, reason: "method is missing" };
  }
  if (typeof method !== "string") {
    return { kind: "invalid", id: responseId, reason: "method must be a string" };
  }
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    return { kind: "invalid", id: responseId, reason: "params must be an object or an array" };
  }
  if (id === undefined) return { kind: "notification", method, params: params as Params };
  if (!isValidId) {
    const reason =
      `id must be a string of at most ${MAX_ID_CHARACTERS} characters, a number up to 2^53 - 1 or null`;
    return { kind: "invalid", id: null, reason };
  }
  return { kind: "request", id: responseId, method, params: params as Params };
}

/** The error response to an invalid message. */
export function invalidRequest({ id, reason }: Invalid): Response {
  return { id, error: new RpcError(INVALID_REQUEST, `Invalid Request: ${reason}`) };
}

/** The JSON text of a response. */
export function writeResponse(response: Response): string {
  const head = response.id === undefined
    ? '{"jsonrpc":"2.0",'
    : `{"jsonrpc":"2.0","id":${writeId(response.id)},`;
  if ("json" in response) return `${head}"result":${response.json}}`;
  if ("result" in response) return `${head}"result":${toJson(response.result) ?? "null"}}`;
  const { code, message, data } = response.error;
  return `${head}"error":${toJson({ code, message, data })}}`;
}

function writeId(id: Id): string {
  return typeof id === "number" ? String(id) : JSON.stringify(id);
}
