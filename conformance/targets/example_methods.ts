/**
 * The example methods of the JSON-RPC 2.0 specification (https://www.jsonrpc.org/specification#examples), served by
 * Trivet's JSON-RPC module. The vectors of `jsonrpc/` call them.
 *
 * @module
 */
import { dispatchBatch } from "../../src/jsonrpc/batch.ts";
import { type Dispatcher, dispatchMessage, type Method } from "../../src/jsonrpc/dispatch.ts";
import { INVALID_PARAMS, PARSE_ERROR, RpcError } from "../../src/jsonrpc/error.ts";
import {
  type Params,
  readMessage,
  type Response as RpcResponse,
  writeResponse,
} from "../../src/jsonrpc/message.ts";
import { parseJson } from "../../src/jsonrpc/parse_json.ts";
import { writeResponses } from "../../src/jsonrpc/server_message.ts";

const METHODS: Readonly<Record<string, Method<undefined>>> = {
  subtract(params) {
    const [minuend, subtrahend] = readParams(params, ["minuend", "subtrahend"]);
    if (typeof minuend !== "number" || typeof subtrahend !== "number") throw invalidParams();
    return minuend - subtrahend;
  },
  sum(params) {
    if (!Array.isArray(params) || params.some((each) => typeof each !== "number")) throw invalidParams();
    return (params as number[]).reduce((sum, each) => sum + each, 0);
  },
  get_data: () => ["hello", 5],
  update: () => null,
  notify_sum: () => null,
  notify_hello: () => null,
};

const dispatcher: Dispatcher<undefined> = {
  methods: new Map(Object.entries(METHODS)),
  onFault: () => undefined,
};

/** Answers one POST. */
export async function exampleMethods(request: Request): Promise<Response> {
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  const text = await respondTo(await request.text());
  return text === undefined
    ? new Response(null, { status: 204 })
    : new Response(text, { headers: { "content-type": "application/json" } });
}

/** Returns the JSON response to one message or batch; `undefined` if there is none. */
export async function respondTo(text: string): Promise<string | undefined> {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return writeResponse({ id: null, error: new RpcError(PARSE_ERROR, "Parse error") });
  }
  if (!Array.isArray(value)) return write(await dispatchMessage(dispatcher, readMessage(value), undefined));
  return write(await dispatchBatch(dispatcher, value.map(readMessage), () => undefined));
}

function write(answers: RpcResponse | readonly RpcResponse[] | undefined): string | undefined {
  if (answers === undefined) return undefined;
  return Array.isArray(answers) ? writeResponses(answers) : writeResponse(answers as RpcResponse);
}

/** Reads parameters by position or by name. */
function readParams(params: Params, names: readonly string[]): readonly unknown[] {
  if (Array.isArray(params)) return params;
  const members = params as Readonly<Record<string, unknown>> | undefined;
  return names.map((name) => members?.[name]);
}

function invalidParams(): RpcError {
  return new RpcError(INVALID_PARAMS, "Invalid params");
}
