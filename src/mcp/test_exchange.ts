/**
 * Test kit: clients of each era, and a reader of event streams.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { ToolServer } from "./service.ts";

// Tests read messages of any shape.
// deno-lint-ignore no-explicit-any
export type Message = any;

const ENDPOINT = "http://127.0.0.1:8787/mcp";
const BOTH = "application/json, text/event-stream";
export const META = "io.modelcontextprotocol/";

/** `params` of a request of 2026-07-28, with `_meta`. */
export function modernParams(
  params: Record<string, unknown> = {},
  capabilities: Record<string, unknown> = {},
  meta: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    ...params,
    _meta: {
      [META + "protocolVersion"]: "2026-07-28",
      [META + "clientInfo"]: { name: "test", version: "1" },
      [META + "clientCapabilities"]: capabilities,
      ...meta,
    },
  };
}

/** The header fields that a request of 2026-07-28 needs. */
export function modernHeaders(method: string, params: Record<string, unknown> = {}): Record<string, string> {
  const name = params.name ?? params.uri ?? params.taskId;
  return {
    accept: BOTH,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
  };
}

export interface Exchange {
  readonly status: number;
  readonly headers: Headers;
  /** One JSON text, or the messages of a stream until it ended. */
  readonly messages: Message[];
  /** The last of them: the response. */
  readonly answer: Message;
  /** Event ids of a stream. */
  readonly ids: string[];
}

/** Reads a response to its end. */
export async function readResponse(response: Response): Promise<Exchange> {
  const { status, headers } = response;
  if (headers.get("content-type") === "text/event-stream") {
    const events = await readEvents(response).all();
    const messages = events.filter(({ data }) => data).map(({ data }) => JSON.parse(data!));
    return {
      status,
      headers,
      messages,
      answer: messages.at(-1),
      ids: events.flatMap(({ id }) => id === undefined ? [] : [id]),
    };
  }
  const text = await response.text();
  const messages = text === "" ? [] : [JSON.parse(text)];
  return { status, headers, messages, answer: messages[0], ids: [] };
}

export interface Client {
  /** Returns the response before its body is read. */
  fetch(body: unknown, headers?: Record<string, string>): Promise<Response>;
  send(body: unknown, headers?: Record<string, string>): Promise<Exchange>;
}

/** A client that posts to the server's endpoint. */
export function client(server: ToolServer): Client {
  const fetch = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    server.fetch(
      new Request(ENDPOINT, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
  return { fetch, send: async (body, headers) => await readResponse(await fetch(body, headers)) };
}

export interface ModernOptions {
  readonly capabilities?: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly id?: unknown;
}

/** A request of 2026-07-28. */
export async function modern(
  server: ToolServer,
  method: string,
  params: Record<string, unknown> = {},
  { capabilities = {}, meta = {}, headers = {}, id = 1 }: ModernOptions = {},
): Promise<Exchange> {
  return await client(server).send(
    { jsonrpc: "2.0", id, method, params: modernParams(params, capabilities, meta) },
    { ...modernHeaders(method, params), ...headers },
  );
}

/** A client with a session. */
export interface SessionClient {
  readonly id: string;
  readonly result: Message;
  fetch(body: unknown, headers?: Record<string, string>): Promise<Response>;
  send(body: unknown, headers?: Record<string, string>): Promise<Exchange>;
  request(method: string, params?: unknown, id?: unknown): Promise<Exchange>;
  /** `GET` or `DELETE`. */
  other(method: string, headers?: Record<string, string>): Promise<Response>;
}

/** Starts a session. @param elsewhere the instance for later requests */
export async function session(
  server: ToolServer,
  { capabilities = {}, revision = "2025-11-25", headers: more = {} }: {
    readonly capabilities?: Record<string, unknown>;
    readonly revision?: string;
    readonly headers?: Record<string, string>;
  } = {},
  elsewhere: ToolServer = server,
): Promise<SessionClient> {
  const clientInfo = { name: "test", version: "1" };
  const hello = {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: revision, capabilities, clientInfo },
  };
  const { status, headers, answer } = await client(server).send(hello, { accept: BOTH, ...more });
  assert.is(status, 200);
  const id = headers.get("mcp-session-id")!;
  const own = { accept: BOTH, "mcp-session-id": id, "mcp-protocol-version": revision, ...more };
  const other = client(elsewhere);
  const fetch = (body: unknown, headers = {}): Promise<Response> => other.fetch(body, { ...own, ...headers });
  return {
    id,
    result: answer.result,
    fetch,
    send: async (body, headers) => await readResponse(await fetch(body, headers)),
    request: async (method, params, id = 1) =>
      await readResponse(await fetch({ jsonrpc: "2.0", id, method, params })),
    other: (method, headers = {}) =>
      elsewhere.fetch(
        new Request(ENDPOINT, { method, headers: { ...own, accept: "text/event-stream", ...headers } }),
      ),
  };
}

export interface Event {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retry?: number;
}

export interface EventReader {
  /** The next event, without comments; `undefined` at the end. */
  next(): Promise<Event | undefined>;
  /** The next event that has data, as JSON. */
  message(): Promise<Message>;
  all(): Promise<Event[]>;
  cancel(): Promise<void>;
}

/** Reads server-sent events. */
export function readEvents(response: Response): EventReader {
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  async function next(): Promise<Event | undefined> {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const event: Record<string, unknown> = {};
        for (const line of block.split("\n")) {
          const colon = line.indexOf(":");
          if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
        }
        if (event.retry !== undefined) event.retry = Number(event.retry);
        if (Object.keys(event).length > 0) return event as Event;
        continue;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  }
  return {
    next,
    async message() {
      for (;;) {
        const event = await next();
        if (event === undefined) throw new Error("The stream ended");
        if (event.data) return JSON.parse(event.data);
      }
    },
    async all() {
      const events = [];
      for (let event = await next(); event; event = await next()) events.push(event);
      return events;
    },
    cancel: () => reader.cancel(),
  };
}

/** The server for callers with this IP address. */
export function from(server: ToolServer, ip: string): ToolServer {
  return { ...server, fetch: (request) => server.fetch(request, { ip }) };
}
