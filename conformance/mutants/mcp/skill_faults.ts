/**
 * Changes what clients and servers send about skills (the skills extension of 2026-07-28).
 *
 * @module
 */
import { onPath } from "../http_faults.ts";
import { changeServerMessages } from "../jsonrpc/event_faults.ts";
import { changeEachMessage, isObject, type Members, readJson } from "../jsonrpc/message_faults.ts";
import type { Wrap } from "../mutant.ts";
import { MCP } from "./mcp_access.ts";

export const names = (...ids: string[]): string[] => ids.map((id) => `mcp/skills/${id}`);

export const methodOf = (request: Request): string => request.headers.get("mcp-method") ?? "";

/** Changes results of these methods. */
export const changeResults = (methods: RegExp, change: (result: Members) => void): Wrap =>
  changeServerMessages([MCP], ({ result }, request) => {
    if (isObject(result) && methods.test(methodOf(request))) change(result);
  });

/** Changes each entry of `skills/list` and `skills/get`. */
export const changeEntries = (change: (entry: Members) => void, methods: RegExp = /^skills\//): Wrap =>
  changeResults(methods, ({ skill, skills }) => {
    for (const entry of Array.isArray(skills) ? skills : [skill]) if (isObject(entry)) change(entry);
  });

/** Changes each file of an entry. */
export const changeFiles = (change: (file: Members) => void): Wrap =>
  changeEntries(({ resources }) => Array.isArray(resources) && resources.forEach(change));

/** Changes each child of a directory. */
export const changeChildren = (change: (child: Members, all: Members[]) => void): Wrap =>
  changeResults(/directory/, ({ resources }) => {
    if (Array.isArray(resources)) { for (const each of [...resources]) change(each, resources); }
  });

/** Changes the URI of requests. */
export const changeUris = (methods: RegExp, change: (uri: string) => string): Wrap =>
  changeEachMessage(MCP, (call) => {
    const params = isObject(call["params"]) ? call["params"] : {};
    const { uri } = params;
    return typeof uri === "string" && methods.test(String(call["method"]))
      ? { ...call, params: { ...params, uri: change(uri) } }
      : call;
  });

/** Answers refused requests of one method that match. */
export const answerRefused = (
  method: string,
  result: Members,
  isAccepted: (uri: unknown) => boolean = () => true,
): Wrap =>
  onPath(MCP, (next) => async (request) => {
    const sent = readJson(await request.clone().text());
    const answer = await next(request);
    if (!isObject(sent) || sent["method"] !== method || !isAccepted(Object(sent["params"]).uri)) {
      return answer;
    }
    const { error } = Object(readJson(await answer.clone().text()));
    return error === undefined ? answer : Response.json({ jsonrpc: "2.0", id: sent["id"], result });
  });
