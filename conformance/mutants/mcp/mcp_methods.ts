/**
 * Faults of MCP's methods.
 *
 * @module
 */
import { MCP } from "./mcp_doors.ts";
import { pathOf, withFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import {
  faultyCalls,
  faultyErrors,
  faultyResponses,
  isJson,
  isObject,
  type Members,
  readJson,
} from "../jsonrpc/rpc_message.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

/** Has a result where a method fails. */
const forgive = (method: string, result: Members): Wrap => (next) => async (request) => {
  const faulty = faultyResponses(
    MCP,
    (value, sent) =>
      isObject(sent) && sent["method"] === method && isObject(value) && "error" in value
        ? { jsonrpc: "2.0", id: sent["id"], result }
        : value,
  );
  if (pathOf(request) !== MCP) return await next(request);
  const answer = await faulty(next)(request);
  const isForgiven = isJson(answer) && [400, 404].includes(answer.status) &&
    "result" in Object(readJson(await answer.clone().text()));
  return isForgiven ? withFields(answer, {}, 200) : answer;
};

export const MCP_METHODS: readonly Mutant[] = [
  {
    name: "mcp/cursors-unread",
    fault: "Does not read cursors",
    wrap: faultyCalls(MCP, (call) => {
      if (!isObject(call["params"])) return call;
      const { cursor: _, ...params } = call["params"];
      return { ...call, params };
    }),
    breaks: names(
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
  },
  {
    name: "mcp/cursor-on-last-page",
    fault: "Has an empty cursor on the last page",
    wrap: faultyResponses(MCP, (value) => {
      const result = isObject(value) && value["result"];
      if (isObject(result) && Array.isArray(result["tools"])) result["nextCursor"] ??= "";
      return value;
    }),
    breaks: names(
      "methods/next-page",
      "modern_methods/next-page",
    ),
  },
  {
    name: "mcp/unknown-tool-as-result",
    fault: "Has a result for tools that there are not",
    wrap: forgive("tools/call", { content: [], isError: true }),
    breaks: names(
      "methods/unknown-tool",
      "methods/inherited-tool",
      "methods/tool-without-name",
      "http_2025_03_26/unknown-tool",
      "http_2025_06_18/unknown-tool",
      "methods/tool-arguments-list",
      "modern_methods/unknown-tool",
    ),
    mayBreak: {
      "Their call fails for its Mcp-Name": names("modern/name-", "modern_methods/name-"),
      "Their call fails for its scope": names(
        "authorization/modern-too-little-scope",
        "authorization/too-little-scope",
      ),
    },
  },
  {
    name: "mcp/unknown-prompt-empty",
    fault: "Has no messages for prompts that there are not",
    wrap: forgive("prompts/get", { messages: [] }),
    breaks: names(
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
    mayBreak: { "Its request fails for its Mcp-Name": names("modern/name-of-prompt") },
  },
  {
    name: "mcp/unknown-resource-empty",
    fault: "Has no contents for resources that there are not",
    wrap: forgive("resources/read", { contents: [] }),
    breaks: names(
      "methods/unknown-resource",
      "modern/unknown-resource",
      "http_2025_03_26/unknown-resource",
      "http_2025_06_18/unknown-resource",
      "methods/inherited-resource",
      "methods/resource-without-uri",
      "methods/resource-uri-number",
    ),
    mayBreak: { "Its request fails for its Mcp-Name": names("modern/name-of-resource") },
  },
  {
    name: "mcp/any-level",
    fault: "Takes any level of the log",
    wrap: forgive("logging/setLevel", {}),
    breaks: names(
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
    fault: "Completes prompts that there are not",
    wrap: forgive("completion/complete", { completion: { values: [] } }),
    breaks: names(
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
    name: "mcp/ping-says-something",
    fault: "Has more than nothing for ping",
    wrap: faultyResponses(MCP, (value, sent) => {
      if (isObject(sent) && sent["method"] === "ping" && isObject(value) && isObject(value["result"])) {
        value["result"]["status"] = "ok";
      }
      return value;
    }),
    breaks: names("methods/ping", "older/ping"),
  },
  {
    name: "mcp/unknown-method-code",
    fault: "Has a code of its own for methods that there are not",
    wrap: faultyErrors(MCP, (error) => {
      if (error["code"] === -32601) error["code"] = -32000;
    }),
    breaks: names("methods/unknown-method", "methods/inherited-method", "modern/unknown-method"),
    mayBreak: {
      "They ask for methods that there are not, too": names(
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
    name: "mcp/ping-still",
    fault: "Answers ping in the revision that has none",
    wrap: forgive("ping", {}),
    breaks: names("modern/gone-ping"),
  },
];
