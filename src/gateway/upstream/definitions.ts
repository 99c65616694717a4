/**
 * The definitions of what one session of an upstream offers.
 *
 * @module
 */
import { appOf } from "../../mcp/apps/app.ts";
import type { ResourceEntry } from "./lists/list_entries.ts";
import { createNames } from "./names.ts";
import type { ProxyOptions } from "./proxy/proxy_tool.ts";
import { proxyTool } from "./proxy/proxy_tool.ts";
import { proxyPrompt } from "./proxy/proxy_prompt.ts";
import {
  proxyResource,
  proxySkill,
  proxySkillFiles,
  proxyTemplate,
  proxyUnlisted,
} from "./proxy/proxy_resource.ts";
import type { UpstreamDefinition } from "./upstream_definition.ts";
import type { UpstreamLists } from "./lists/upstream_lists.ts";
import { createKeptUris, isTaken } from "./uris.ts";

/** What the names and URIs of all upstreams begin with. */
export interface TakenNames {
  readonly prefixes: readonly string[];
  readonly heads: readonly string[];
}

export function createDefinitions(
  lists: UpstreamLists,
  options: Omit<ProxyOptions, "features">,
  prefix: string,
  { prefixes, heads }: TakenNames,
): UpstreamDefinition[] {
  const { features } = lists;
  const toName = createNames(prefix, prefixes);
  // An upstream without resources cannot read the URIs that its results link to.
  const uris = features.resources ? options.uris : createKeptUris(options.target.name);
  const proxy: ProxyOptions = { ...options, features, uris };
  // Servers need not list the apps of their tools (MCP Apps, resource discovery).
  const hasApps = features.resources && lists.tools.some(({ _meta }) => appOf(_meta) !== undefined);
  const isFree = ({ uri }: ResourceEntry): boolean => options.uris.all !== undefined || !isTaken(uri, heads);
  const skillUris = new Set(lists.skills.map(({ uri }) => uri));
  const listed = new Map(lists.resources.map((entry) => [entry.uri, entry]));
  return [
    ...lists.tools.map((entry) => proxyTool(proxy, entry, toName(entry.name))),
    ...lists.resources.filter((entry) => !skillUris.has(entry.uri) && isFree(entry)).map((entry) =>
      proxyResource(proxy, entry)
    ),
    ...lists.skills.map((skill) => proxySkill(proxy, skill, listed.get(skill.uri))),
    ...(features.resources ? [proxySkillFiles(proxy, lists.skills)] : []),
    ...lists.resourceTemplates.filter(isFree).map((entry) => proxyTemplate(proxy, entry)),
    ...(features.resources && uris.all !== undefined ? [proxyUnlisted(proxy, uris.all)] : []),
    ...(hasApps && uris.apps !== undefined ? [proxyUnlisted(proxy, uris.apps)] : []),
    ...lists.prompts.map((entry) => proxyPrompt(proxy, entry, toName(entry.name))),
  ];
}
