/**
 * The measured messages, as HTTP requests of clients that conform to the transport: revision 2025-11-25 (or the one that
 * the server negotiates) without and in a session, and revision 2026-07-28, whose requests are self-contained
 * (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http). One response is checked
 * completely before the measurement; each measured one is checked for its status, id and an expected text.
 *
 * @module
 */
import type { Variant } from "./subject.ts";
import { toToolName } from "./tools.ts";

export const LEGACY = "2025-11-25";
export const MODERN = "2026-07-28";

export interface Message {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}
export interface HttpResponse {
  readonly status: number;
  /** The `Mcp-Session-Id`. */
  readonly session: string | null;
  readonly text: string;
}
export type Send = (message: Message) => Promise<HttpResponse>;

export interface Operation {
  readonly name: string;
  readonly variant: Variant;
  readonly method:
    | "initialize"
    | "tools/list"
    | "tools/call"
    | "server/discover";
}

export const OPERATIONS: readonly Operation[] = [
  { name: `initialize, ${LEGACY}`, variant: "stateless", method: "initialize" },
  { name: `tools/list, ${LEGACY}`, variant: "stateless", method: "tools/list" },
  { name: `tools/call, ${LEGACY}`, variant: "stateless", method: "tools/call" },
  { name: `initialize, ${LEGACY}, opening a session`, variant: "session", method: "initialize" },
  { name: `tools/list, ${LEGACY}, in a session`, variant: "session", method: "tools/list" },
  { name: `tools/call, ${LEGACY}, in a session`, variant: "session", method: "tools/call" },
  { name: `server/discover, ${MODERN}`, variant: "modern", method: "server/discover" },
  { name: `tools/list, ${MODERN}`, variant: "modern", method: "tools/list" },
  { name: `tools/call, ${MODERN}`, variant: "modern", method: "tools/call" },
];

/** A server does not support an operation, or responds incorrectly. */
export class Unsupported extends Error {
  override readonly name = "Unsupported";
}

export interface Prepared {
  /** Sends one request and checks the response. */
  readonly call: () => Promise<void>;
  /** Ends the sessions that calls have started. */
  readonly endSessions: () => Promise<void>;
}

export const BOTH_TYPES = "application/json, text/event-stream";
const CLIENT = { name: "bench", version: "1.0.0" };
const SUM = "42";
export const META: Readonly<Record<string, unknown>> = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The result of a handshake. */
export interface McpConnection {
  readonly revision: string;
  readonly session: string | null;
}

/** Header fields of a request of revision 2025-11-25. */
export function toLegacyFields({ revision, session }: McpConnection, accept: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept,
    "mcp-protocol-version": revision,
    ...(session !== null && { "mcp-session-id": session }),
  };
}

/** A request of revision 2026-07-28. */
export function createModernMessage(
  method: string,
  id: number,
  params: Record<string, unknown> = {},
): Message {
  return {
    method: "POST",
    headers: toModernFields(method, params.name as string | undefined),
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: META } }),
  };
}

export function toModernFields(method: string, name?: string): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: BOTH_TYPES,
    "mcp-protocol-version": MODERN,
    "mcp-method": method,
    ...(name !== undefined && { "mcp-name": name }),
  };
}

/** Returns the parameters of a method. `tools/call` calls the tool in the middle of the list. */
export function toParams(
  method: Operation["method"],
  tools: number,
  latest: string = LEGACY,
): Record<string, unknown> {
  if (method === "initialize") {
    return { protocolVersion: latest, capabilities: {}, clientInfo: CLIENT };
  }
  if (method !== "tools/call") return {};
  return { name: toToolName(tools >> 1), arguments: { a: 19, b: 23, unit: "m", note: "The length of both" } };
}

/** Returns a text that only a correct response contains. */
export function toExpectedText(method: Operation["method"], tools: number): string {
  switch (method) {
    case "initialize":
      return '"protocolVersion":"';
    case "server/discover":
      return '"supportedVersions":[';
    case "tools/list":
      return `"${toToolName(tools - 1)}"`;
    case "tools/call":
      return `"text":"${SUM}"`;
  }
}

/** Options of the clients of one server. */
export interface ClientOptions {
  readonly accept?: string | undefined;
  readonly latest?: string | undefined;
}

/** Runs the handshake. @throws {Unsupported} if the server refuses it */
export async function connect(
  send: Send,
  { accept = BOTH_TYPES, latest }: ClientOptions,
): Promise<McpConnection> {
  const params = toParams("initialize", 0, latest);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  const headers = { "content-type": "application/json", accept };
  const response = await send({ method: "POST", headers, body });
  const { protocolVersion: revision } = parseResult(response) as {
    protocolVersion: string;
  };
  const connected = { revision, session: response.session };
  if (response.session !== null) {
    const { status } = await send({
      method: "POST",
      headers: toLegacyFields(connected, accept),
      body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
    });
    if (status !== 202) {
      throw new Unsupported(`notifications/initialized: status ${status}`);
    }
  }
  return connected;
}

/**
 * Prepares calls whose responses are checked.
 * @param sessions the number of sessions that calls are distributed to
 * @throws {Unsupported} if the first response is not correct
 */
export async function prepare(
  send: Send,
  { variant, method }: Operation,
  tools: number,
  { accept = BOTH_TYPES, latest, sessions = 1 }: ClientOptions & {
    readonly sessions?: number;
  },
): Promise<Prepared> {
  const params = toParams(method, tools, latest);
  const headers: Record<string, string>[] = [];
  const name = params.name as string | undefined;
  if (variant === "modern") headers.push(toModernFields(method, name));
  else if (method === "initialize") {
    headers.push({ "content-type": "application/json", accept });
  } else {
    // At once, because the handshake of one server takes a second.
    const count = variant === "session" ? sessions : 1;
    for (
      const connected of await Promise.all(
        Array.from({ length: count }, () => connect(send, { accept, latest })),
      )
    ) {
      if (variant === "session" && connected.session === null) {
        throw new Unsupported("the server sends no session id");
      }
      headers.push(
        toLegacyFields(variant === "session" ? connected : { ...connected, session: null }, accept),
      );
    }
  }

  const all = variant === "modern" ? { ...params, _meta: META } : params;
  const rest = `,"method":"${method}","params":${JSON.stringify(all)}}`;
  const mark = toExpectedText(method, tools);
  const opened: string[] = [];
  let id = 0;
  async function sendRequest(): Promise<HttpResponse> {
    const own = ++id;
    const response = await send({
      method: "POST",
      headers: headers[own % headers.length]!,
      body: `{"jsonrpc":"2.0","id":${own}${rest}`,
    });
    if (
      response.status !== 200 || !response.text.includes(mark) ||
      !response.text.includes(`"id":${own}`)
    ) {
      throw new Unsupported(`${method}: status ${response.status}: ${response.text.slice(0, 200)}`);
    }
    if (method === "initialize" && response.session !== null) {
      opened.push(response.session);
    }
    return response;
  }
  checkResult(method, parseResult(await sendRequest()), tools);
  if (method === "tools/call") await checkValidation();
  if (variant === "session" && method === "initialize" && opened.length === 0) {
    throw new Unsupported("the server sends no session id");
  }
  /** A server that does not validate arguments would have an advantage. */
  async function checkValidation(): Promise<void> {
    const wrong = rest.replace('"a":19', '"a":"nineteen"');
    const response = await send({
      method: "POST",
      headers: headers[0]!,
      body: `{"jsonrpc":"2.0","id":0${wrong}`,
    });
    if (!/"isError":true|"error":\{/.test(response.text)) {
      throw new Unsupported("the server accepts invalid arguments");
    }
  }
  return {
    async call() {
      await sendRequest();
    },
    async endSessions() {
      for (const session of opened.splice(0)) {
        const { status, text } = await send({
          method: "DELETE",
          headers: { accept, "mcp-session-id": session },
        });
        if (status !== 200 && status !== 202 && status !== 204) {
          throw new Unsupported(`DELETE of a session: status ${status}: ${text.slice(0, 200)}`);
        }
      }
    },
  };
}

/** Parses the result of a response, which is JSON or an event stream. */
function parseResult({ status, text }: HttpResponse): Record<string, unknown> {
  const json = /^data: ?(\{.*)$/m.exec(text)?.[1] ?? text;
  if (status !== 200 || !json.startsWith("{")) {
    throw new Unsupported(`status ${status}: ${text.slice(0, 200)}`);
  }
  const { result, error } = JSON.parse(json);
  if (result === undefined) {
    throw new Unsupported(`error ${JSON.stringify(error).slice(0, 200)}`);
  }
  return result;
}

function checkResult(method: Operation["method"], result: Record<string, unknown>, tools: number): void {
  if (method === "tools/list") {
    const list = result.tools as {
      inputSchema: { properties: Record<string, unknown> };
    }[];
    // A page is only a part of the list, so its duration cannot be compared.
    if (list.length !== tools) {
      throw new Unsupported(`the server lists ${list.length} of ${tools} tools`);
    }
    if (!("tags" in list[0]!.inputSchema.properties)) {
      throw new Unsupported("the server does not list the schemas");
    }
  }
  if (method === "tools/call") {
    const [content] = result.content as { text: string }[];
    if (content?.text !== SUM || result.isError === true) {
      throw new Unsupported("the sum is wrong");
    }
  }
}
