/**
 * The results of `initialize` and `server/discover`, with the server's capabilities
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation). Loads with the first of
 * these requests.
 *
 * @module
 */
import { WrittenResult } from "../../jsonrpc/message.ts";
import type { Extension } from "../definition/extension.ts";
import type { Registry } from "../definition/registry.ts";
import { implementation, type ServerInfo } from "../definition/server_info.ts";
import { LEGACY, MODERN, REVISIONS } from "../era.ts";
import { TASKS_EXTENSION } from "../input/client_feature.ts";

/** Finds the result of `initialize`, whose revision was negotiated. */
export type FindResult = (revision: string, startsSession: boolean) => WrittenResult | undefined;

export interface LifecycleOptions {
  readonly info: ServerInfo;
  readonly instructions: string | undefined;
  readonly registry: Registry;
  readonly extensions: readonly Extension[];
  /** How long a client may cache the result of `server/discover`, in milliseconds. */
  readonly ttl: number;
  readonly cacheScope: "public" | "private";
  readonly modernHead: string;
  /** Whether `initialize` over HTTP opens a session. */
  readonly sessions: boolean;
}

/** MCP Apps: `../apps/app.ts`. It needs `_meta`, which exists since 2025-06-18. */
const APPS_EXTENSION = "io.modelcontextprotocol/ui";

/** The results of `initialize`, written as JSON once. Only a session carries changes to the client. */
export function handshakeResults(
  { info, instructions, registry, extensions, sessions }: LifecycleOptions,
): FindResult {
  const write = (listChanged: true | undefined) =>
    new Map(LEGACY.map((revision) => [
      revision,
      new WrittenResult(JSON.stringify({
        protocolVersion: revision,
        capabilities: serverCapabilities(registry, revision, extensions, listChanged),
        serverInfo: implementation(info, revision),
        instructions,
      })),
    ]));
  const results = write(true);
  const withoutSession = sessions ? results : write(undefined);
  return (revision, startsSession) => (startsSession ? results : withoutSession).get(revision);
}

/** The result of `server/discover`, written as JSON once. */
export function discoverResult(
  { instructions, registry, extensions, ttl, cacheScope, modernHead }: LifecycleOptions,
): WrittenResult {
  const members = JSON.stringify({
    supportedVersions: REVISIONS,
    capabilities: serverCapabilities(registry, MODERN, extensions, true),
    instructions,
    ttlMs: ttl,
    cacheScope,
  });
  return new WrittenResult(`${modernHead},${members.slice(1)}`);
}

/** The `ServerCapabilities` for a client of the revision. */
function serverCapabilities(
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
