/**
 * Faults in MCP methods.
 *
 * @module
 */
import { MCP } from "./mcp_access.ts";
import { pathOf, withHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import {
  changeEachMessage,
  changeErrors,
  changeRpcResponses,
  isJson,
  isObject,
  type Members,
  readJson,
} from "../jsonrpc/message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

/** Returns a result where a method fails. */
const replaceErrors = (method: string, result: Members): Wrap => (next) => async (request) => {
  const faulty = changeRpcResponses(
    MCP,
    (value, sent) =>
      isObject(sent) && sent["method"] === method && isObject(value) && "error" in value
        ? { jsonrpc: "2.0", id: sent["id"], result }
        : value,
  );
  if (pathOf(request) !== MCP) return await next(request);
  const answer = await faulty(next)(request);
  const isAccepted = isJson(answer) && [400, 404].includes(answer.status) &&
    "result" in Object(readJson(await answer.clone().text()));
  return isAccepted ? withHeaders(answer, {}, 200) : answer;
};

export const MCP_METHODS: readonly Mutant[] = [
  {
    name: "mcp/cursors-ignored",
    fault: "Ignores cursors",
    wrap: changeEachMessage(MCP, (call) => {
      if (!isObject(call["params"])) return call;
      const { cursor: _, ...params } = call["params"];
      return { ...call, params };
    }),
    killedBy: names(
      "methods/cursor-tools",
      "methods/cursor-prompts",
      "methods/cursor-resources",
      "methods/cursor-templates",
      "methods/next-page",
      "methods/cursor-altered",
      "methods/cursor-of-another-list",
      "modern/cursor",
      "http_2025_03_26/cursor",
      "http_2025_06_18/cursor",
      "methods/cursor-number",
      "modern_methods/error-not-cached",
      "modern_methods/cursor-resources",
      "modern_methods/cursor-templates",
      "modern_methods/next-page",
    ),
    mayFail: {
      "They page through skills": ["mcp/skills/cursor-invalid", "mcp/skills/directory-cursor-invalid"],
    },
  },
  {
    name: "mcp/tools-without-schemas",
    fault: "Lists tools without inputSchema",
    wrap: changeRpcResponses(MCP, (value) => {
      const result = Object(isObject(value) ? value["result"] : undefined);
      if (!Array.isArray(result.tools)) return value;
      const tools = result.tools.map(({ inputSchema: _, ...tool }: Members) => tool);
      return { ...Object(value), result: { ...result, tools } };
    }),
    killedBy: names("methods/tools-have-schemas"),
  },
  {
    name: "mcp/cursor-on-last-page",
    fault: "Returns an empty nextCursor on the last page",
    wrap: changeRpcResponses(MCP, (value) => {
      const result = isObject(value) && value["result"];
      if (isObject(result) && Array.isArray(result["tools"])) result["nextCursor"] ??= "";
      return value;
    }),
    killedBy: names(
      "methods/next-page",
      "modern_methods/next-page",
    ),
  },
  {
    name: "mcp/unknown-tool-as-result",
    fault: "Returns a result for unknown tools",
    wrap: replaceErrors("tools/call", { content: [], isError: true }),
    killedBy: names(
      "methods/unknown-tool",
      "methods/inherited-tool",
      "methods/tool-without-name",
      "http_2025_03_26/unknown-tool",
      "http_2025_06_18/unknown-tool",
      "methods/tool-arguments-list",
      "modern_methods/unknown-tool",
    ),
    mayFail: {
      "Its call of a tool is refused": ["mcp/tasks/"],
      "Their call fails for its Mcp-Name": names("modern/name-", "modern_methods/name-"),
      "Their call fails for its scope": names(
        "authorization/modern-too-little-scope",
        "authorization/too-little-scope",
      ),
    },
  },
  {
    name: "mcp/unknown-prompt-empty",
    fault: "Returns an empty list of messages for unknown prompts",
    wrap: replaceErrors("prompts/get", { messages: [] }),
    killedBy: names(
      "methods/unknown-prompt",
      "methods/prompt-argument-missing",
      "http_2025_03_26/unknown-prompt",
      "http_2025_03_26/prompt-argument-missing",
      "http_2025_06_18/unknown-prompt",
      "http_2025_06_18/prompt-argument-missing",
      "methods/inherited-prompt",
      "methods/prompt-without-name",
      "modern_methods/unknown-prompt",
      "modern_methods/prompt-argument-missing",
    ),
    mayFail: { "Its request fails for its Mcp-Name": names("modern/name-of-prompt") },
  },
  {
    name: "mcp/unknown-resource-empty",
    fault: "Returns empty contents for unknown resources",
    wrap: replaceErrors("resources/read", { contents: [] }),
    killedBy: names(
      "methods/unknown-resource",
      "modern/unknown-resource",
      "http_2025_03_26/unknown-resource",
      "http_2025_06_18/unknown-resource",
      "methods/inherited-resource",
      "methods/resource-without-uri",
      "methods/resource-uri-number",
    ),
    mayFail: {
      "They read skills that do not exist": ["mcp/skills/"],
      "Its request fails for its Mcp-Name": names("modern/name-of-resource"),
    },
  },
  {
    name: "mcp/any-level",
    fault: "Accepts any log level",
    wrap: replaceErrors("logging/setLevel", {}),
    killedBy: names(
      "methods/unknown-level",
      "modern/gone-logging-setlevel",
      "http_2025_03_26/unknown-level",
      "http_2025_06_18/unknown-level",
      "methods/level-missing",
      "methods/level-capitals",
    ),
  },
  {
    name: "mcp/any-completion",
    fault: "Completes arguments of unknown prompts",
    wrap: replaceErrors("completion/complete", { completion: { values: [] } }),
    killedBy: names(
      "methods/completion-unknown",
      "http_2025_03_26/completion-unknown",
      "http_2025_06_18/completion-unknown",
      "methods/completion-without-argument",
      "methods/completion-without-ref",
      "methods/completion-of-unknown-kind",
      "modern_methods/completion-unknown",
    ),
  },
  {
    name: "mcp/ping-result-not-empty",
    fault: "Returns a member in the result of ping",
    wrap: changeRpcResponses(MCP, (value, sent) => {
      if (isObject(sent) && sent["method"] === "ping" && isObject(value) && isObject(value["result"])) {
        value["result"]["status"] = "ok";
      }
      return value;
    }),
    killedBy: names("methods/ping", "older/ping"),
  },
  {
    name: "mcp/unknown-method-code",
    fault: "Returns its own error code for unknown methods",
    wrap: changeErrors(MCP, (error) => {
      if (error["code"] === -32601) error["code"] = -32000;
    }),
    killedBy: names("methods/unknown-method", "methods/inherited-method", "modern/unknown-method"),
    mayFail: {
      "They call methods of tasks": [
        "mcp/core_tasks/no-cancel",
        "mcp/core_tasks/no-get",
        "mcp/core_tasks/no-list",
        "mcp/core_tasks/no-result",
      ],
      "They call removed methods": ["mcp/tasks/"],
      "They call an unknown method": names(
        "http_2025_03_26/unknown-method",
        "http_2025_06_18/unknown-method",
        "modern/gone-",
        "older/unknown-method",
        "streams/one-id-in-two-sessions",
        "streams/two-at-once",
      ),
    },
  },
  {
    name: "mcp/ping-accepted",
    fault: "Answers ping in the revision that does not have it",
    wrap: replaceErrors("ping", {}),
    killedBy: names("modern/gone-ping"),
  },
];
