/**
 * Calls tools as a client with the tasks extension, and follows their tasks. Only tests import this.
 *
 * @module
 */
import { until } from "../../test_until.ts";
import type { ToolServer } from "../service.ts";
import { type Message, modern } from "../test_exchange.ts";

export const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
export const CAPABILITIES: Record<string, unknown> = { ...TASKS, elicitation: {}, sampling: {} };
export const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;

export const callTool = (
  server: ToolServer,
  name: string,
  more = {},
  capabilities: Record<string, unknown> = CAPABILITIES,
): ReturnType<typeof modern> => modern(server, "tools/call", { name, ...more }, { capabilities });
export const ask = (
  server: ToolServer,
  method: string,
  params: Record<string, unknown>,
  headers = {},
): ReturnType<typeof modern> => modern(server, method, params, { capabilities: CAPABILITIES, headers });

/** Polls until the task has a status. */
export function poll(server: ToolServer, taskId: string, status: string): Promise<Message> {
  return until(async () => {
    const { result } = (await ask(server, "tasks/get", { taskId })).answer;
    return result.status === status && result;
  }, `the task is ${status}`);
}
