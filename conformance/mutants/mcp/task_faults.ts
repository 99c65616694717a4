/**
 * Changes what clients and servers send about tasks (the tasks extension of 2026-07-28).
 *
 * @module
 */
import { withRequestHeaders } from "../http_faults.ts";
import { changeServerMessages } from "../jsonrpc/event_faults.ts";
import { changeEachMessage, isObject, type Members } from "../jsonrpc/message_faults.ts";
import type { Wrap } from "../mutant.ts";
import { MCP } from "./mcp_access.ts";
import { answerPosts, forward } from "./mcp_messages.ts";

export const names = (...ids: string[]): string[] => ids.map((id) => `mcp/tasks/${id}`);
export const ALL: string[] = names("");

export const EXTENSION = "io.modelcontextprotocol/tasks";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

const methodOf = (request: Request): string => request.headers.get("mcp-method") ?? "";

export const paramsOf = (sent: unknown): Members =>
  isObject(sent) && isObject(sent["params"]) ? sent["params"] : {};

/** Changes results of these methods. `state` is one object for each run. */
export const changeResults = <State>(
  pattern: RegExp,
  change: (result: Members, state: State) => void,
  start: () => State,
): Wrap =>
(next) => {
  const state = start();
  return changeServerMessages([MCP], ({ result }, request) => {
    if (isObject(result) && pattern.test(methodOf(request))) change(result, state);
  })(next);
};

export const changeTasks = (pattern: RegExp, change: (result: Members) => void): Wrap =>
  changeResults(pattern, change, () => undefined);

/** Changes each new task. */
export const changeCreated = (change: (task: Members) => void): Wrap =>
  changeTasks(/^tools\/call$/, (result) => {
    if (result["resultType"] === "task") change(result);
  });

/** Changes notifications about tasks. */
export const changeNotifications = (change: (params: Members) => void): Wrap =>
  changeServerMessages([MCP], ({ method, params }) => {
    if (method === "notifications/tasks" && isObject(params)) change(params);
  });

/** Changes the declared capabilities of the client. */
export const changeCapabilities = (change: (capabilities: Members) => Members): Wrap =>
  changeEachMessage(MCP, (call) => {
    const params = paramsOf(call);
    const meta = isObject(params["_meta"]) ? params["_meta"] : {};
    const capabilities = meta[CAPABILITIES];
    if (!isObject(capabilities)) return call;
    return { ...call, params: { ...params, _meta: { ...meta, [CAPABILITIES]: change(capabilities) } } };
  });

export const withTasks = (capabilities: Members): Members => ({
  ...capabilities,
  extensions: { ...Object(capabilities["extensions"]), [EXTENSION]: {} },
});

/** Answers requests of one method that match with a result. */
export const answerWith = (
  method: string,
  find: (params: Members) => Members | undefined,
): Wrap =>
  answerPosts((sent) => {
    if (!isObject(sent) || sent["method"] !== method) return undefined;
    const result = find(paramsOf(sent));
    return result && Response.json({ jsonrpc: "2.0", id: sent["id"], result });
  });

export const refuse = (sent: Members, code: number, status = 200): Response =>
  Response.json({ jsonrpc: "2.0", id: sent["id"], error: { code, message: "Refused" } }, { status });

/** Finds a task by another text than its id. */
export const findBy = (isSame: (id: string, asked: string) => boolean): Wrap => (next) => {
  const ids = new Set<string>();
  const remembering = changeServerMessages([MCP], ({ result }) => {
    if (isObject(result) && typeof result["taskId"] === "string") ids.add(result["taskId"]);
  })(next);
  return answerPosts((sent, request, server) => {
    const params = paramsOf(sent);
    const asked = params["taskId"];
    if (typeof asked !== "string" || ids.has(asked)) return undefined;
    const id = [...ids].find((each) => isSame(each, asked));
    if (id === undefined) return undefined;
    const changed = withRequestHeaders(request, { "mcp-name": id });
    return forward(server, changed, { ...Object(sent), params: { ...params, taskId: id } });
  })(remembering);
};
