/**
 * `tools/list` and its like: what a revision knows of each entry, for callers who may see it, in pages with sealed
 * cursors (https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination). A page that is the same
 * for many callers is written once.
 *
 * @module
 */
import { writeCursor } from "../../crypto/cursor.ts";
import { WrittenResult } from "../../jsonrpc/message.ts";
import type { Call } from "../call.ts";
import { MODERN } from "../era.ts";
import { readListCursor } from "./list_cursor.ts";

/** One thing of a list. */
export interface ListEntry {
  /** Unique in the list. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** What a client of the revision is told of it. */
  readonly describe: (revision: string) => Record<string, unknown>;
}

export interface ListOptions {
  /** The member of the result: `tools`. */
  readonly member: string;
  readonly entries: readonly ListEntry[];
  readonly pageSize: number;
  readonly secret: () => Promise<Uint8Array>;
  /** Milliseconds for which a modern client may keep a page. */
  readonly ttl: number;
  /** Who may share a page that is the same for all callers. */
  readonly cacheScope: "public" | "private";
  /** The head of every modern result: see `modern.ts`. */
  readonly modernHead: string;
}

/** Gives the page that a call asks for. @throws {RpcError} -32602 for a cursor that was not issued here */
export type ListPages = (cursor: unknown, call: Call) => WrittenResult | Promise<WrittenResult>;

/** The pages of a list that does not change. */
export function listPages(options: ListOptions): ListPages {
  const { entries } = options;
  const scopes = [...new Set(entries.flatMap((entry) => entry.scopes))];
  const open = entries.filter((entry) => entry.scopes.length === 0);
  const cacheScope = scopes.length > 0 ? "private" : options.cacheScope;
  const shared = { ...options, cacheScope } as const;
  const written = new Map<string, WrittenResult>();

  const page = (cursor: unknown, call: Call): WrittenResult | Promise<WrittenResult> => {
    const { principal, host, revision } = call;
    // Callers who see all, and those who see what is open, are many: their pages are kept.
    const kind = scopes.length === 0 || principal && scopes.every((each) => host.holds(principal, each))
      ? "all"
      : principal
      ? undefined
      : "open";
    if (kind !== undefined && cursor === undefined) {
      const known = written.get(kind + revision);
      if (known) return known;
    }
    const visible = kind === "all"
      ? entries
      : kind === "open"
      ? open
      : entries.filter((entry) => entry.scopes.every((each) => host.holds(principal, each)));
    const made = writePage(shared, visible, cursor, revision);
    return kind !== undefined && cursor === undefined
      ? made.then((result) => {
        written.set(kind + revision, result);
        return result;
      })
      : made;
  };
  return page;
}

/** One page of entries that were found for this call. */
export async function writePage(
  { member, pageSize, secret, ttl, cacheScope, modernHead }: Omit<ListOptions, "entries">,
  entries: readonly ListEntry[],
  cursor: unknown,
  revision: string,
): Promise<WrittenResult> {
  const position = await readListCursor(cursor, `mcp:${member}`, secret);
  const start = position ? findStart(position, entries) : 0;
  const shown = entries.slice(start, start + pageSize);
  const last = shown.at(-1);
  const more = last && start + shown.length < entries.length
    ? `,"nextCursor":"${
      writeCursor(await secret(), `mcp:${member}`, [String(start + shown.length), last.name])
    }"`
    : "";
  const list = `"${member}":[${
    shown.map((entry) => JSON.stringify(entry.describe(revision))).join(",")
  }]${more}`;
  return new WrittenResult(
    revision >= MODERN ? `${modernHead},${list},"ttlMs":${ttl},"cacheScope":"${cacheScope}"}` : `{${list}}`,
  );
}

/** The index after the last entry of the previous page, wherever that entry is now. */
function findStart([offset, name]: readonly string[], entries: readonly ListEntry[]): number {
  const found = entries.findIndex((entry) => entry.name === name);
  return found >= 0 ? found + 1 : Number(offset);
}
