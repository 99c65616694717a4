/**
 * Test kit: Trivet's tool server behind each transport in one process, and servers that follow a script.
 *
 * @module
 */
import { toolServer } from "../mcp_service.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import type { McpServer, McpServerOptions } from "../mcp_service.ts";
import type { McpClient, McpClientOptions } from "./client.ts";
import { createMcpClient } from "./create_client.ts";
import type { ConnectionError } from "./error.ts";
import type { ClientTransport, HttpTransportOptions, Launch, ProcessEvents } from "./transport.ts";
import { httpTransport } from "./transports/http_transport.ts";
import { processTransport } from "./transports/process_transport.ts";
import { sseTransport } from "./transports/sse_transport.ts";

// Tests read messages of any shape.
// deno-lint-ignore no-explicit-any
export type Loose = any;

export const URL_OF_TESTS = "http://127.0.0.1:8787/mcp";

/** A tool server at the URL of the tests. */
export function newToolServer(options: Partial<McpServerOptions>): McpServer {
  return toolServer({ url: "http://127.0.0.1:8787/", store: memoryStore(), sse: true, ...options });
}

/** Each transport to a server in this process. */
export function transportTo(server: McpServer, kind: ClientTransport["kind"]): ClientTransport {
  if (kind === "stdio") return processTransport(launchInProcess(server));
  const fetch = (url: string, init: RequestInit) => Promise.resolve(server.fetch(new Request(url, init)));
  return kind === "http"
    ? httpTransport({ url: URL_OF_TESTS, fetch })
    : sseTransport({ url: `${URL_OF_TESTS}/sse`, fetch });
}

/** "Starts" a server in this process, which serves stdio. */
function launchInProcess(server: McpServer): Launch {
  return {
    name: "in-process",
    start({ onOutput, onExit }) {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const input = writable.getWriter();
      const output = new WritableStream<Uint8Array>({ write: (chunk) => onOutput(chunk) });
      const exit = server.serveStdio(readable, output, undefined)
        .then(() => onExit("exited with code 0", undefined));
      const encoder = new TextEncoder();
      return {
        write: (text) => input.write(encoder.encode(text)),
        async stop() {
          await input.close().catch(() => {});
          await exit;
        },
      };
    },
  };
}

/** A request that a scripted server received. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** The JSON of the body. */
  readonly message: Loose;
  readonly signal: AbortSignal;
}

/** A server that answers as a function says. Counts what it received, and which bodies are still open. */
export interface ScriptedServer {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly received: Received[];
  /** Bodies of `stream` that were neither read to the end nor cancelled. */
  open: number;
  /** A response with an event stream. `write` gets the function that sends text, and ends the stream when it returns. */
  stream(write: (send: (text: string) => void, closed: Promise<void>) => void | Promise<void>): Response;
}

export function scriptedServer(
  answer: (received: Received, server: ScriptedServer) => Response | Promise<Response>,
): ScriptedServer {
  const server: ScriptedServer = {
    received: [],
    open: 0,
    async fetch(url, init) {
      const { method = "GET", headers, body, signal } = init;
      const received: Received = {
        method,
        url,
        headers: new Headers(headers),
        message: typeof body === "string" ? JSON.parse(body) : undefined,
        signal: signal!,
      };
      server.received.push(received);
      return await answer(received, server);
    },
    stream(write) {
      let onClosed = (): void => {};
      const closed = new Promise<void>((resolve) => onClosed = resolve);
      server.open++;
      let isOpen = true;
      const end = (): void => {
        if (isOpen) server.open--;
        isOpen = false;
        onClosed();
      };
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const encoder = new TextEncoder();
          const send = (text: string): void => {
            if (isOpen) controller.enqueue(encoder.encode(text));
          };
          Promise.resolve(write(send, closed)).then(() => {
            if (!isOpen) return;
            end();
            controller.close();
          });
        },
        cancel: end,
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  };
  return server;
}

/** A JSON response. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** The response to a request. */
export function result({ message }: Received, members: Record<string, unknown>): Response {
  return json({ jsonrpc: "2.0", id: message.id, result: members });
}

/** An event with a message. */
export function event(message: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`;
}

const CAPABILITIES = { tools: {}, resources: { subscribe: true }, prompts: {} };

/** Answers the opening of a server of 2026-07-28, and the rest by a function. */
export function modernServer(
  answer: (received: Received, server: ScriptedServer) => Response | Promise<Response>,
  capabilities: Record<string, unknown> = CAPABILITIES,
): ScriptedServer {
  return scriptedServer((received, server) =>
    received.message?.method === "server/discover"
      ? result(received, { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities })
      : answer(received, server)
  );
}

/** Answers the opening of a server of an older revision, with sessions, and the rest by a function. */
export function legacyServer(
  answer: (received: Received, server: ScriptedServer) => Response | Promise<Response>,
  capabilities: Record<string, unknown> = CAPABILITIES,
): ScriptedServer {
  let sessions = 0;
  return scriptedServer((received, server) => {
    const { method, message } = received;
    if (message?.method === "server/discover") return json(methodNotFound(message.id), 400);
    if (message?.method === "initialize") {
      const { protocolVersion } = message.params;
      const members = { protocolVersion, capabilities, serverInfo: { name: "scripted", version: "1" } };
      const session = { "mcp-session-id": `session-${++sessions}` };
      return json({ jsonrpc: "2.0", id: message.id, result: members }, 200, session);
    }
    if (method === "DELETE") return new Response(null, { status: 200 });
    if (message && message.id === undefined) return new Response(null, { status: 202 });
    return answer(received, server);
  });
}

export function methodNotFound(id: unknown): Record<string, unknown> {
  return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
}

/** A process that follows a script: `onLine` gets each message, and `send` writes text to the output. */
export interface ScriptedProcess extends Launch {
  /** How often it was started. */
  starts: number;
  isStopped: boolean;
  readonly received: Loose[];
  send(text: string): void;
  exit(description?: string): void;
}

export function scriptedProcess(
  onMessage: (message: Loose, script: ScriptedProcess) => void,
): ScriptedProcess {
  const encoder = new TextEncoder();
  let events: ProcessEvents | undefined;
  const script: ScriptedProcess = {
    name: "scripted",
    starts: 0,
    isStopped: false,
    received: [],
    send: (text) => events?.onOutput(encoder.encode(text)),
    exit: (description = "exited with code 1") => events?.onExit(description, undefined),
    start(given) {
      script.starts++;
      script.isStopped = false;
      events = given;
      return {
        write(text) {
          for (const line of text.split("\n").filter((line) => line !== "")) {
            const message = JSON.parse(line);
            script.received.push(message);
            queueMicrotask(() => script.isStopped || onMessage(message, script));
          }
          return undefined;
        },
        stop() {
          script.isStopped = true;
          return Promise.resolve();
        },
      };
    },
  };
  return script;
}

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<ConnectionError & { code?: number }> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error as ConnectionError;
  }
  throw new Error(`resolved to ${JSON.stringify(value)} instead of rejecting`);
}

/** A client of a scripted server. */
export function connect(
  server: ScriptedServer,
  options: Partial<McpClientOptions> = {},
  http: Partial<HttpTransportOptions> = {},
): McpClient {
  const transport = httpTransport({ url: URL_OF_TESTS, fetch: server.fetch, ...http });
  return createMcpClient({ transport, name: "test", version: "1", ...options });
}
