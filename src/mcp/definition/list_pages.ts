/**
 * Pages of `tools/list`, `resources/list`, `resources/templates/list` and `prompts/list`
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination): the entries that the caller may
 * see, as the revision describes them, with signed cursors. The JSON text of a first page that many callers share is made
 * once.
 *
 * @module
 */
import type { FindSecrets } from "../../crypto/server_secrets.ts";
import { WrittenResult } from "../../jsonrpc/message.ts";
import { toJson } from "../../jsonrpc/to_json.ts";
import type { Call } from "../call.ts";
import { MODERN } from "../era.ts";
import { hasScopes } from "./scopes.ts";

/** A tool, resource, resource template or prompt in a list. */
export interface ListEntry {
  /** Unique in the list: the name, the URI or the URI template. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** The entry as a client of the revision gets it. */
  readonly describe: (revision: string) => Record<string, unknown>;
}

export interface ListOptions {
  /** The member of the result: `tools`. */
  readonly member: string;
  readonly entries: readonly ListEntry[];
  readonly pageSize: number;
  readonly secret: FindSecrets;
  /** Milliseconds for which a client of 2026-07-28 may cache a page. */
  readonly ttl: number;
  /** The widest cache scope of a page. */
  readonly cacheScope: "public" | "private";
  /** The head of every modern result: see `modern.ts`. */
  readonly modernHead: string;
}

/** Returns the page of a cursor. @throws {RpcError} -32602 for an invalid cursor */
export type ListPages = (cursor: unknown, call: Call) => WrittenResult | Promise<WrittenResult>;

/** The pages of a list with fixed entries. */
export function createListPages(options: ListOptions): ListPages {
  const { entries } = options;
  const scopes = [...new Set(entries.flatMap((entry) => entry.scopes))];
  const open = entries.filter((entry) => entry.scopes.length === 0);
  const cacheScope = scopes.length > 0 ? "private" : options.cacheScope;
  const shared = { ...options, cacheScope } as const;
  const written = new Map<string, WrittenResult>();

  return (cursor, call) => {
    const { principal, revision } = call;
    // Many callers see all entries, or only those without scopes: their first pages are kept.
    const kind = scopes.length === 0 || principal && hasScopes(call, scopes)
      ? "all"
      : principal
      ? undefined
      : "open";
    const key = kind && cursor === undefined ? kind + revision : undefined;
    const cached = key && written.get(key);
    if (cached) return cached;
    const visible = kind === "all"
      ? entries
      : kind === "open"
      ? open
      : entries.filter((entry) => hasScopes(call, entry.scopes));
    const result = writePage(shared, visible, cursor, revision);
    return key
      ? result.then((page) => {
        written.set(key, page);
        return page;
      })
      : result;
  };
}

/** Writes the page of a cursor, of entries that the caller may see. */
export async function writePage(
  { member, pageSize, secret, ttl, cacheScope, modernHead }: Omit<ListOptions, "entries">,
  entries: readonly ListEntry[],
  cursor: unknown,
  revision: string,
): Promise<WrittenResult> {
  // Loaded by the first list that has more than a page.
  const cursors = cursor !== undefined || entries.length > pageSize
    ? await import("./list_cursor.ts")
    : undefined;
  const purpose = `mcp:${member}`;
  const start = await cursors?.readStart(cursor, purpose, secret, entries) ?? 0;
  const shown = entries.slice(start, start + pageSize);
  const end = start + shown.length;
  const more = shown.length > 0 && end < entries.length
    ? `,"nextCursor":"${cursors!.writeListCursor(end, entries, purpose, await secret())}"`
    : "";
  const list = `"${member}":[${shown.map((entry) => toJson(entry.describe(revision))).join(",")}]${more}`;
  return new WrittenResult(
    revision >= MODERN ? `${modernHead},${list},"ttlMs":${ttl},"cacheScope":"${cacheScope}"}` : `{${list}}`,
  );
}
