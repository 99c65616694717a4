/**
 * A client of HTTP+SSE. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { ToolServer } from "../service.ts";
import { type EventReader, readEvents } from "../test_exchange.ts";
import { request } from "../test_server.ts";

export interface OpenedSse {
  readonly events: EventReader;
  readonly path: string;
}

/** Opens a stream, and reads the endpoint. */
export async function openSse(server: ToolServer, headers: Record<string, string> = {}): Promise<OpenedSse> {
  const url = "http://127.0.0.1:8787/mcp/sse";
  const events = readEvents(
    await server.fetch(new Request(url, { headers: { accept: "text/event-stream", ...headers } })),
  );
  const { event, data } = (await events.next())!;
  assert.is(event, "endpoint");
  return { events, path: data! };
}

/** Posts a message to the endpoint of a stream. */
export function postSse(
  server: ToolServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return server.fetch(
    new Request("http://127.0.0.1:8787" + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  );
}

/** An `initialize`. */
export function hello(protocolVersion: string, capabilities = {}): Record<string, unknown> {
  return request("initialize", { protocolVersion, capabilities, clientInfo: { name: "old", version: "1" } });
}
