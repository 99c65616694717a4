/**
 * `serverInfo` and the server's capabilities, by revision
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation).
 *
 * @module
 */
import { TASKS_EXTENSION } from "../input/client_feature.ts";
import type { Icon } from "./content.ts";
import { MODERN } from "../era.ts";
import type { Extension } from "./extension.ts";
import type { Registry } from "./registry.ts";
import { membersFor } from "../revision_shape.ts";

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  /** Display name (2025-06-18). */
  readonly title?: string | undefined;
  /** Since 2025-11-25, as `websiteUrl`. */
  readonly description?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
}

/** MCP Apps: `../apps/app.ts`. It needs `_meta`, which exists since 2025-06-18. */
const APPS_EXTENSION = "io.modelcontextprotocol/ui";

/** The `Implementation` of `initialize` and `server/discover`. */
export function implementation(info: ServerInfo, revision: string): Record<string, unknown> {
  const { name, version, title, description, websiteUrl, icons } = info;
  const newer = revision >= "2025-11-25" && { description, websiteUrl };
  return membersFor(revision, { name, title, version, ...newer, icons });
}

/** The `ServerCapabilities` for a client of the revision. */
export function serverCapabilities(
  { offers, resources, templates, completes, hasTasks }: Registry,
  revision: string,
  others: readonly Extension[],
  listChanged: true | undefined,
): Record<string, unknown> {
  const hasApps = [...resources.keys(), ...templates.map(({ name }) => name)].some((uri) =>
    uri.startsWith("ui://")
  );
  const extensions = {
    ...(hasApps && revision >= "2025-06-18" && { [APPS_EXTENSION]: {} }),
    ...(hasTasks && revision >= MODERN && { [TASKS_EXTENSION]: {} }),
    ...Object.fromEntries(
      others.filter(({ since }) => revision >= since).map(({ id, settings }) => [id, settings]),
    ),
  };
  return {
    ...(offers.tools && { tools: { listChanged } }),
    ...(offers.resources && { resources: { subscribe: listChanged, listChanged } }),
    ...(offers.prompts && { prompts: { listChanged } }),
    ...(completes && revision >= "2025-03-26" && { completions: {} }),
    logging: {},
    ...(Object.keys(extensions).length > 0 && { extensions }),
  };
}
