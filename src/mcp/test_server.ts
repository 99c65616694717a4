/**
 * Test kit of this folder: an MCP server with a few definitions, and a function that posts to it.
 *
 * @module
 */
import * as v from "valibot";
import { soleSecret } from "../crypto/server_secrets.ts";
import type { TrivetEvent } from "../events.ts";
import { TokenRefusal } from "../http/bearer.ts";
import type { Principal } from "../http/principal.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import { prompt, resource, resourceTemplate, tool } from "./definition/define.ts";
import { type Definition, ToolError } from "./definition/definition.ts";
import { createToolServer, type ToolServer, type ToolServerOptions } from "./service.ts";

const SECRETS = soleSecret(new Uint8Array(32).fill(7));

export const DEFINITIONS: readonly Definition[] = [
  tool({
    name: "add",
    title: "Add",
    description: "Adds two numbers",
    input: v.object({ a: v.number(), b: v.optional(v.number(), 1) }),
    run: ({ a, b }) => a + b,
  }),
  tool({
    name: "greet",
    description: "Greets",
    input: { type: "object", properties: { name: { type: "string", maxLength: 10 } }, required: ["name"] },
    output: { type: "object", properties: { greeting: { type: "string" } }, required: ["greeting"] },
    // The cast allows a result that does not match the output schema.
    run: ({ name }) =>
      (name === "invalid" ? { wrong: true } : { greeting: `Hello, ${name}` }) as { greeting: string },
  }),
  tool({ name: "no_input", description: "Has no arguments", run: () => "done" }),
  tool({
    name: "refuse",
    description: "Fails with a reason",
    run() {
      throw new ToolError("Ask for less");
    },
  }),
  tool({
    name: "break",
    description: "Fails with an unexpected error",
    async run() {
      await Promise.resolve();
      throw new Error("the database password is hunter2");
    },
  }),
  tool({
    name: "secret",
    description: "Needs scopes",
    scopes: ["read", "write"],
    run: (_, { principal }) => principal?.client,
  }),
  resource({
    uri: "test://text",
    name: "text",
    description: "Text",
    mimeType: "text/plain",
    read: () => "hello",
  }),
  resource({
    uri: "test://bytes",
    name: "bytes",
    mimeType: "image/png",
    read: () => Uint8Array.of(1, 2, 255),
  }),
  resourceTemplate({
    uriTemplate: "test://things/{id}/{+path}",
    name: "thing",
    read: ({ id, path }) =>
      id === "none" ? undefined : { content: `${id}: ${path}`, mimeType: "text/markdown" },
  }),
  prompt({
    name: "ask",
    description: "Asks",
    arguments: [{ name: "what", required: true }, { name: "how" }],
    get: ({ what, how }) => `${what} ${how ?? "plainly"}`,
  }),
];

export const READER: Principal = { client: "reader", workspace: "default", scopes: new Set(["read"]) };
export const WRITER: Principal = {
  client: "writer",
  workspace: "default",
  scopes: new Set(["read", "write"]),
};

export interface TestServer {
  readonly server: ToolServer;
  readonly events: TrivetEvent[];
  /** Posts a body (as JSON unless it is text) and reads the response; `body` is `undefined` when it is empty. */
  post(body: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Tests read responses of any shape.
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

export const STREAMABLE = {
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
};

export function newServer(options: Partial<ToolServerOptions> = {}): TestServer {
  const events: TrivetEvent[] = [];
  const server = createToolServer({
    name: "test",
    version: "1.2.3",
    instructions: "Be brief.",
    base: "",
    issuer: "http://127.0.0.1:8787",
    definitions: DEFINITIONS,
    identify: (request) => {
      const token = request.headers.get("authorization");
      const known = { "Bearer reader": READER, "Bearer writer": WRITER }[token ?? ""];
      return Promise.resolve(
        token === null
          ? "none"
          : known ?? new TokenRefusal("invalid_token", "The access token is unknown, expired or revoked"),
      );
    },
    auth: "optional",
    sessions: true,
    allowedHosts: [],
    allowedOrigins: [],
    bodyLimit: 10_000,
    store: memoryStore(),
    secret: () => SECRETS,
    now: Date.now,
    middleware: [],
    sources: [],
    implied: new Map(),
    pageSize: 1000,
    sessionLifetime: 3_600_000,
    keepAlive: 15_000,
    listLifetime: 60_000,
    sse: undefined,
    extensions: [],
    resourceMetadata: undefined,
    observe: (event) => events.push(event),
    ...options,
  });
  return {
    server,
    events,
    async post(body, headers = {}) {
      const response = await server.fetch(
        new Request("http://127.0.0.1:8787/mcp", {
          method: "POST",
          headers: { "content-type": "application/json", ...headers },
          body: typeof body === "string" || body instanceof Uint8Array
            ? body as BodyInit
            : JSON.stringify(body),
        }),
      );
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === "" ? undefined : JSON.parse(text),
      };
    },
  };
}

/** Two instances on one store. */
export function pair(
  definitions: readonly Definition[] = DEFINITIONS,
  options: Partial<ToolServerOptions> = {},
): [ToolServer, ToolServer] {
  const store = memoryStore();
  return [
    newServer({ store, definitions, ...options }).server,
    newServer({ store, definitions, ...options }).server,
  ];
}

/** A JSON-RPC request. @param id 1 by default */
export function request(method: string, params?: unknown, id: unknown = 1): Record<string, unknown> {
  return { jsonrpc: "2.0", id, method, params };
}

/** A `tools/call`. */
export function call(name: unknown, args?: unknown): Record<string, unknown> {
  return request("tools/call", { name, arguments: args });
}
