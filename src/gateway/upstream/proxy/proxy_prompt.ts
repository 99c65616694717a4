/**
 * The definition of an upstream's prompt.
 *
 * @module
 */
import type { Icon, PromptResult } from "../../../mcp/definition/content.ts";
import type { PromptDefinition } from "../../../mcp/definition/definition.ts";
import { toMethodError } from "../failure.ts";
import type { PromptEntry } from "../lists/list_entries.ts";
import type { FromUpstream } from "../upstream_definition.ts";
import { callUpstream } from "./call_upstream.ts";
import { completeAt } from "./complete.ts";
import type { ProxyOptions } from "./proxy_tool.ts";
import { toPromptResult } from "./result.ts";

/** A prompt that is fetched from the upstream. */
export function proxyPrompt(
  { target, features, scopes, uris }: ProxyOptions,
  entry: PromptEntry,
  name: string,
): PromptDefinition & FromUpstream {
  const { title, description, icons, _meta } = entry;
  const ref = { type: "ref/prompt", name: entry.name };
  const variables = features.completions
    ? entry.arguments?.map((each) => ({ ...each, complete: completeAt(target, ref, each.name) }))
    : entry.arguments;
  return {
    kind: "prompt",
    name,
    title,
    description,
    icons: icons as readonly Icon[] | undefined,
    _meta,
    ...(variables && { arguments: variables }),
    ...(scopes.length > 0 && { scopes }),
    upstream: target.name,
    serverDigest: target.serverDigest,
    originalName: entry.name,
    async get(values, context) {
      try {
        const params = { name: entry.name, arguments: values };
        const result = await callUpstream(target, "prompts/get", params, context);
        return toPromptResult(result, uris) as unknown as PromptResult;
      } catch (error) {
        throw toMethodError(target.name, error, target.timeout);
      }
    },
  };
}
