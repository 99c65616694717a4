/**
 * The definitions of what one session of an upstream offers.
 *
 * @module
 */
import { appOf } from "../../mcp/apps/app.ts";
import { createNames } from "./names.ts";
import type { ProxyOptions } from "./proxy/proxy_tool.ts";
import { proxyTool } from "./proxy/proxy_tool.ts";
import { proxyPrompt } from "./proxy/proxy_prompt.ts";
import { proxyResource, proxyTemplate, proxyUnlisted } from "./proxy/proxy_resource.ts";
import type { UpstreamDefinition } from "./upstream_definition.ts";
import type { UpstreamLists } from "./upstream_lists.ts";
import { KEPT_URIS } from "./uris.ts";

/** @param prefixes of all upstreams */
export function createDefinitions(
  lists: UpstreamLists,
  options: Omit<ProxyOptions, "features">,
  prefix: string,
  prefixes: readonly string[],
): UpstreamDefinition[] {
  const { features } = lists;
  const toName = createNames(prefix, prefixes);
  // An upstream without resources cannot read the URIs that its results link to.
  const uris = features.resources ? options.uris : KEPT_URIS;
  const proxy: ProxyOptions = { ...options, features, uris };
  // Servers need not list the apps of their tools (MCP Apps, resource discovery).
  const hasApps = features.resources && lists.tools.some(({ _meta }) => appOf(_meta) !== undefined);
  return [
    ...lists.tools.map((entry) => proxyTool(proxy, entry, toName(entry.name))),
    ...lists.resources.map((entry) => proxyResource(proxy, entry)),
    ...lists.resourceTemplates.map((entry) => proxyTemplate(proxy, entry)),
    ...(features.resources && uris.all !== undefined ? [proxyUnlisted(proxy, uris.all)] : []),
    ...(hasApps && uris.apps !== undefined ? [proxyUnlisted(proxy, uris.apps)] : []),
    ...lists.prompts.map((entry) => proxyPrompt(proxy, entry, toName(entry.name))),
  ];
}
