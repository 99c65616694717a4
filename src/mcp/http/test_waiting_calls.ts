/**
 * Calls that wait: for the client, or until they are cancelled. Only tests import this.
 *
 * @module
 */
import type { CallContext } from "../context.ts";
import { tool } from "../definition/define.ts";
import type { ToolServer } from "../service.ts";
import type { Message } from "../test_exchange.ts";
import { newServer, request } from "../test_server.ts";
import type { ToolServerOptions } from "../tool_server.ts";
import type { StreamLimits } from "./stream_limits.ts";

/** A server with tools that wait for the client, or until they are cancelled, and how many of them run. */
export function askingServer(
  streamLimits: Partial<StreamLimits>,
  options: Partial<ToolServerOptions> = {},
): { readonly server: ToolServer; running(): number } {
  let running = 0;
  const waiting = (name: string, wait: (call: CallContext) => Promise<unknown>) =>
    tool({
      name,
      description: "Waits",
      async run(_, call) {
        running++;
        try {
          return await wait(call) === undefined ? "done" : "answered";
        } finally {
          running--;
        }
      },
    });
  const schema = { type: "object", properties: {} } as const;
  const definitions = [
    waiting("asks", (call) => call.elicit({ message: "?", schema })),
    waiting("leaves", (call) => call.disconnect().then(() => call.elicit({ message: "?", schema }))),
    waiting("silent", ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve))),
  ];
  const { server } = newServer({ definitions, streamLimits, ...options });
  return { server, running: () => running };
}

export const toolCall = (name: string, id: number): Message => request("tools/call", { name }, id);
export const cancellation = (requestId: number): Message => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

export const timeout = (): Promise<never> =>
  new Promise((_, reject) => setTimeout(() => reject(new Error("No response")), 3000));
