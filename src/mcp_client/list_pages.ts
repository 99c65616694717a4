/**
 * Reads all pages of a list within limits (https://modelcontextprotocol.io/specification/draft/server/utilities/pagination).
 *
 * @module
 */
import { type ListName, SKILLS_EXTENSION } from "./client.ts";
import { ConnectionError } from "./error.ts";
import type { ClientLimits, JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";
import type { Sized } from "./wire.ts";

/** How to request a list, and the members of its entries that must be strings. */
const LISTS: Readonly<
  Record<
    ListName,
    {
      readonly method: string;
      readonly member: string;
      readonly key: string;
      readonly capability: string;
    }
  >
> = {
  tools: { method: "tools/list", member: "tools", key: "name", capability: "tools" },
  prompts: { method: "prompts/list", member: "prompts", key: "name", capability: "prompts" },
  resources: { method: "resources/list", member: "resources", key: "uri", capability: "resources" },
  resourceTemplates: {
    method: "resources/templates/list",
    member: "resourceTemplates",
    key: "uriTemplate",
    capability: "resources",
  },
  skills: { method: "skills/list", member: "skills", key: "uri", capability: SKILLS_EXTENSION },
};

/** Whether the capabilities of a server have the list: those of extensions are within `extensions`. */
export function hasList(list: ListName, capabilities: JsonObject): boolean {
  const { capability } = LISTS[list];
  const { extensions } = capabilities;
  return capabilities[capability] !== undefined ||
    isObject(extensions) && extensions[capability] !== undefined;
}

const MAX_PAGES = 1000;

/** All entries. @throws {ConnectionError} malformed, too_large */
export async function listPages(
  list: ListName,
  server: string,
  limits: Required<ClientLimits>,
  send: (method: string, params: JsonObject) => Promise<Sized>,
  onTtl?: (ttlMs: number) => void,
): Promise<JsonObject[]> {
  const { method, member, key } = LISTS[list];
  const entries: JsonObject[] = [];
  const cursors = new Set<string>();
  let size = 0;
  let cursor: string | undefined;
  do {
    const { result, bytes } = await send(method, cursor === undefined ? {} : { cursor });
    const page = result[member];
    if (!Array.isArray(page)) throw malformed(server, `${method} has no list of ${member}`);
    size += bytes;
    const isTooLong = entries.length + page.length > limits.listEntries || size > limits.listBytes;
    if (isTooLong || cursors.size >= MAX_PAGES) {
      const most = `${limits.listEntries} entries, ${limits.listBytes} bytes or ${MAX_PAGES} pages`;
      throw new ConnectionError("too_large", server, `${method} has more than ${most}`);
    }
    for (const entry of page) if (isObject(entry) && typeof entry[key] === "string") entries.push(entry);
    const { nextCursor, ttlMs } = result;
    if (typeof ttlMs === "number") onTtl?.(ttlMs);
    if (nextCursor === undefined || nextCursor === null) return entries;
    if (typeof nextCursor !== "string") {
      throw malformed(server, `${method} has a cursor that is not a string`);
    }
    if (cursors.has(nextCursor)) {
      throw malformed(server, `${method} repeats a cursor, so that its list never ends`);
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  } while (true);
}

function malformed(server: string, what: string): ConnectionError {
  return new ConnectionError("malformed", server, what);
}
