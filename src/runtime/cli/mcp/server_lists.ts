/**
 * What a server offers: its lists, as far as it has the capability.
 *
 * @module
 */
import type {
  ClientExchange,
  ConnectionInfo,
  JsonObject,
  ListName,
  McpClient,
} from "../../../mcp_client/client.ts";

/** The lists, and the capability that each needs. */
const LISTS: readonly (readonly [ListName, string])[] = [
  ["tools", "tools"],
  ["resources", "resources"],
  ["resourceTemplates", "resources"],
  ["prompts", "prompts"],
];

export type ServerLists = { readonly [List in ListName]: readonly JsonObject[] };

/** Reads all lists. Lists without their capability are empty. */
export async function readLists(
  client: McpClient,
  { capabilities }: ConnectionInfo,
  exchange: ClientExchange,
): Promise<ServerLists> {
  const lists: Record<ListName, readonly JsonObject[]> = {
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [],
  };
  for (const [list, capability] of LISTS) {
    if (capabilities[capability] !== undefined) lists[list] = await client.listAll(list, exchange);
  }
  return lists;
}

/** A member that is a text; `undefined` when it is not. */
export function textOf(entry: Readonly<JsonObject>, member: string): string | undefined {
  const value = entry[member];
  return typeof value === "string" ? value : undefined;
}

/** The name and version of a server. */
export function describeServerInfo({ serverInfo }: ConnectionInfo): string {
  const [name, version] = [textOf(serverInfo, "name"), textOf(serverInfo, "version")];
  return [name, version].filter((each) => each).join(" ") || "unnamed";
}
