/**
 * Exchanges lines with a server over stdio. Only tests import this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { tool } from "../definition/define.ts";
import { type Definition, type ToolDefinition, ToolError } from "../definition/definition.ts";
import { DEFINITIONS, newServer, WRITER } from "../test_server.ts";

/** Writes chunks to the input and returns the lines of the output. */
export async function exchange(
  chunks: readonly (string | Uint8Array)[],
  definitions: readonly Definition[] = DEFINITIONS,
  store: Store = memoryStore(),
): Promise<string[]> {
  const { server } = newServer({ definitions, store });
  const encoder = new TextEncoder();
  const input = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      }
      controller.close();
    },
  });
  let text = "";
  const decoder = new TextDecoder();
  const output = new WritableStream<Uint8Array>({
    write: (chunk) => void (text += decoder.decode(chunk, { stream: true })),
  });
  await server.serveStdio(input, output, WRITER);
  assert.ok(text === "" || text.endsWith("\n"));
  return text === "" ? [] : text.trimEnd().split("\n");
}

export const ping = (id: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
export const ids = (lines: readonly string[]): unknown[] => lines.map((line) => JSON.parse(line).id);

export const asks: ToolDefinition = tool({
  name: "asks",
  description: "Repeats its request until a response",
  async run(_, call) {
    for (let i = 0; i < 3; i++) {
      try {
        return (await call.listRoots()).length;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    throw new ToolError("No response");
  },
});
export const hello: string = JSON.stringify({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: { roots: {} } },
}) + "\n";
export const ask = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"asks"}}\n';

export const listen = (id: unknown): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "subscriptions/listen",
    params: {
      notifications: { toolsListChanged: true },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  }) + "\n";
