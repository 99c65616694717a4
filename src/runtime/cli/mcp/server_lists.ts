/**
 * What a server offers: its lists.
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

const LISTS: readonly ListName[] = ["tools", "resources", "resourceTemplates", "prompts", "skills"];

export type ServerLists = { readonly [List in ListName]: readonly JsonObject[] };

/** Reads all lists. Lists without their capability are empty. */
export async function readLists(client: McpClient, exchange: ClientExchange): Promise<ServerLists> {
  const lists = {} as Record<ListName, readonly JsonObject[]>;
  for (const list of LISTS) lists[list] = await client.listAll(list, exchange);
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
