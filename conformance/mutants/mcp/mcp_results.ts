/**
 * Faults in the form of MCP results.
 *
 * @module
 */
import { MCP } from "./mcp_access.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { changeRpcResponses, isObject, type Members } from "../jsonrpc/message_faults.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `mcp/${id}`);

const changeResults = (change: (result: Members) => void): Wrap =>
  changeRpcResponses(MCP, (value) => {
    if (isObject(value) && isObject(value["result"])) change(value["result"]);
    return value;
  });

/** Changes each item of a list in results. */
const changeItems = (list: string, change: (item: Members) => unknown): Wrap =>
  changeResults((result) => {
    if (Array.isArray(result[list])) result[list] = result[list].map(change);
  });

const TOOL_RESULTS = "They read results of tools";

export const MCP_RESULTS: readonly Mutant[] = [
  {
    name: "mcp/content-is-text",
    fault: "Returns text in place of a list of content items",
    wrap: changeResults((result) => {
      if (Array.isArray(result["content"])) result["content"] = "text";
    }),
    killedBy: names(
      "results/tool-content",
      "results/structured-content-is-an-object",
      "results/structured-content-as-text",
      "modern_methods/tool-content",
    ),
    mayFail: { [TOOL_RESULTS]: names("core_tasks/", "tasks/", "skills/", "modern", "methods/") },
  },
  {
    name: "mcp/content-without-type",
    fault: "Leaves out the type of content items",
    wrap: changeItems("content", ({ type: _, ...item }) => item),
    killedBy: names("results/tool-content", "modern_methods/tool-content"),
    mayFail: {
      [TOOL_RESULTS]: names("results/structured-content-", "core_tasks/", "tasks/", "skills/"),
    },
  },
  {
    name: "mcp/structured-content-in-a-list",
    fault: "Returns structured content in a list",
    wrap: changeResults((result) => {
      if ("structuredContent" in result) result["structuredContent"] = [result["structuredContent"]];
    }),
    killedBy: names(
      "results/structured-content-is-an-object",
      "results/structured-content-follows-the-schema",
      "modern_methods/structured-content-follows-the-schema",
    ),
  },
  {
    name: "mcp/structured-content-of-text",
    fault: "Returns the values of structured content as text",
    wrap: changeResults((result) => {
      const { structuredContent: structured } = result;
      if (!isObject(structured)) return;
      const texts = Object.entries(structured).map(([name, value]) => [name, String(value)]);
      result["structuredContent"] = Object.fromEntries(texts);
    }),
    killedBy: names(
      "results/structured-content-follows-the-schema",
      "modern_methods/structured-content-follows-the-schema",
    ),
  },
  {
    name: "mcp/structured-content-alone",
    fault: "Returns structured content without text",
    wrap: changeResults((result) => {
      if ("structuredContent" in result) result["content"] = [];
    }),
    killedBy: names("results/structured-content-as-text"),
  },
  {
    name: "mcp/output-schemas-without-type",
    fault: "Leaves out the type of output schemas",
    wrap: changeItems("tools", ({ outputSchema, ...tool }) => {
      const { type: _, ...schema } = Object(outputSchema);
      return outputSchema === undefined ? tool : { ...tool, outputSchema: schema };
    }),
    killedBy: names("results/output-schemas-are-objects"),
  },
  {
    name: "mcp/versions-are-text",
    fault: "Returns the supported revisions as text",
    wrap: changeResults((result) => {
      const { supportedVersions: versions } = result;
      if (Array.isArray(versions)) result["supportedVersions"] = versions.join(" ");
    }),
    killedBy: names("modern/discover"),
    mayFail: { "They call server/discover": names("modern_methods/id-") },
  },
  {
    name: "mcp/cursors-are-numbers",
    fault: "Returns a number as nextCursor",
    wrap: changeResults((result) => {
      const isList = ["tools", "prompts", "resources", "resourceTemplates"].some((name) => name in result);
      if (isList) result["nextCursor"] = 2;
    }),
    killedBy: names(
      "results/next-cursor-tools",
      "results/next-cursor-prompts",
      "results/next-cursor-resources",
      "results/next-cursor-templates",
      "methods/next-page",
      "modern_methods/next-page",
    ),
  },
  {
    name: "mcp/resources-without-content",
    fault: "Returns contents of resources with neither text nor data",
    wrap: changeItems("contents", ({ text: _, blob: __, ...item }) => item),
    killedBy: names("methods/resource"),
    mayFail: { "They read resources": names("skills/", "modern_methods/", "modern/") },
  },
];
