/**
 * The definition of an upstream's tool.
 *
 * @module
 */
import type { Icon } from "../../../mcp/definition/content.ts";
import type { ToolDefinition } from "../../../mcp/definition/definition.ts";
import { passThroughSchema } from "../../../mcp/schema/pass_through_schema.ts";
import { toToolError } from "../failure.ts";
import type { ToolEntry } from "../lists/list_entries.ts";
import type { FromUpstream } from "../upstream_definition.ts";
import type { UpstreamFeatures } from "../lists/upstream_lists.ts";
import type { UriMap } from "../uris.ts";
import type { CallTarget } from "./call_target.ts";
import { callUpstream } from "./call_upstream.ts";
import { toToolMeta, toToolResult } from "./result.ts";

/** What the definitions of one upstream have in common. */
export interface ProxyOptions {
  readonly target: CallTarget;
  readonly features: UpstreamFeatures;
  readonly scopes: readonly string[];
  readonly uris: UriMap;
}

/** A tool whose calls go to the upstream. Its schemas are shown as they are: the upstream checks the arguments. */
export function proxyTool(
  { target, features, scopes, uris }: ProxyOptions,
  entry: ToolEntry,
  name: string,
): ToolDefinition & FromUpstream {
  const { inputSchema, outputSchema, icons, _meta, requiresTask } = entry;
  // A tool of 2025-11-25 that runs as a task only. For clients of 2026-07-28 with tasks it is a task of the gateway.
  const task = requiresTask ? { task: {} } : undefined;
  return {
    kind: "tool",
    name,
    title: entry.title,
    description: entry.description,
    input: passThroughSchema(inputSchema),
    output: outputSchema && passThroughSchema(outputSchema),
    annotations: entry.annotations,
    icons: icons as readonly Icon[] | undefined,
    _meta: _meta && toToolMeta(_meta, uris),
    ...(scopes.length > 0 && { scopes }),
    ...((features.tasks || requiresTask) && { task: { support: "optional", start: "by_run" } }),
    upstream: target.name,
    serverDigest: target.serverDigest,
    originalName: entry.name,
    async run(input, context) {
      try {
        if (requiresTask) await context.startTask();
        const params = { name: entry.name, arguments: input, ...task };
        return toToolResult(await callUpstream(target, "tools/call", params, context), uris);
      } catch (error) {
        throw toToolError(target.name, error, target.timeout);
      }
    },
  };
}
