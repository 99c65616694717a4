/**
 * Pages of lists: records below a prefix in the order of their keys, those that match a search. A cursor is the key after
 * which the list goes on, so that records which come or go between two pages neither repeat nor hide others.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "../crypto/base64url.ts";
import type { Entry, Key, Store } from "../store/store.ts";
import { AdminError, type Schema } from "./operation.ts";
import { input, object } from "./schema.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Records that one request reads. A page can have fewer members than its limit, or none, and still have a next page. */
const MAX_READ = 5000;
/** Records that a search reads at a time. */
const SEARCH_BATCH = 200;
/** Parts of a key after the prefix. */
const MAX_KEY_PARTS = 4;

/** A page of a list. */
export interface Page<Member> {
  readonly data: readonly Member[];
  readonly has_more: boolean;
  /** `page` of the next request. */
  readonly next_page: string | null;
}

/** Which page. */
export interface PageQuery {
  readonly limit?: number;
  readonly page?: string;
  readonly search?: string;
}

const PAGE_PROPERTIES: Readonly<Record<string, Schema>> = {
  limit: {
    type: "integer",
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: "the most members of a page",
  },
  page: { type: "string", maxLength: 4096, description: "next_page of the page before" },
  search: {
    type: "string",
    maxLength: 200,
    description: "only members with this text in a name or an id, in upper or lower case",
  },
};

/** The input of a list. @param more properties beside those of the page */
export function pageInput(
  more: Readonly<Record<string, Schema>> = {},
  required: readonly string[] = [],
): Schema {
  return input({ ...more, ...PAGE_PROPERTIES }, required);
}

/** The output of a list. */
export function pageOf(member: Schema): Schema {
  return object({
    data: { type: "array", items: member },
    has_more: { type: "boolean" },
    next_page: { type: ["string", "null"] },
  });
}

/** Records to list, below a prefix. */
export interface Source<Value, Member> {
  readonly prefix: Key;
  /** Only keys whose next part begins with this: the others are not read. @default all */
  readonly begins?: string;
  /** The member of a record; `undefined` leaves it out. */
  read(entry: Entry<Value>): Member | undefined | Promise<Member | undefined>;
}

/**
 * One page of the records of the sources, one source after the other.
 * @param isFound whether a member matches the search
 * @throws {AdminError} for an invalid cursor
 */
export async function listPage<Member>(
  store: Store,
  sources: readonly Source<never, Member>[],
  { limit = DEFAULT_LIMIT, page }: PageQuery,
  isFound?: (member: Member) => boolean,
): Promise<Page<Member>> {
  const data: Member[] = [];
  const batch = isFound ? SEARCH_BATCH : limit + 1;
  let left = MAX_READ;
  const start = page === undefined ? { source: 0, after: undefined } : readCursor(page, sources);
  let { source, after } = start;
  for (; source < sources.length; source++, after = undefined) {
    const { prefix, begins, read } = sources[source]!;
    for await (const entry of readFrom(store, { prefix, begins }, after, batch)) {
      // A search ends with the last member of its page: the next one may be far away.
      if (data.length === limit || left-- === 0) return toPage(data, source, after?.slice(prefix.length));
      after = entry.key;
      const member = await read(entry as Entry<never>);
      if (member === undefined || isFound && !isFound(member)) continue;
      data.push(member);
      if (isFound && data.length === limit) return toPage(data, source, after.slice(prefix.length));
    }
  }
  return { data, has_more: false, next_page: null };
}

function toPage<Member>(data: readonly Member[], source: number, rest: Key | undefined): Page<Member> {
  return { data, has_more: true, next_page: writeCursor(source, rest) };
}

async function* readFrom(
  store: Store,
  { prefix, begins }: { readonly prefix: Key; readonly begins: string | undefined },
  after: Key | undefined,
  limit: number,
): AsyncGenerator<Entry> {
  if (begins !== undefined && !after) {
    // A list begins after a key, not at it.
    after = [...prefix, begins];
    const first = await store.get(after);
    if (first) yield first;
  }
  for (;;) {
    const entries = await store.list(prefix, { limit, after });
    for (const entry of entries) {
      if (begins !== undefined && !String(entry.key[prefix.length]).startsWith(begins)) return;
      yield entry;
    }
    if (entries.length < limit) return;
    after = entries.at(-1)!.key;
  }
}

/**
 * One page of members that are in memory, the greatest first.
 * @param keyOf what they are ordered by: unlike for any two members, and the same in each request
 */
export function pageOfMembers<Member>(
  members: readonly Member[],
  { limit = DEFAULT_LIMIT, page, search }: PageQuery,
  keyOf: (member: Member) => string,
  textsOf: (member: Member) => readonly (string | null | undefined)[],
): Page<Member> {
  const after = page === undefined ? undefined : readTextCursor(page);
  const isFound = createSearch(search, textsOf);
  const rest = members.filter((each) =>
    (!isFound || isFound(each)) && (after === undefined || keyOf(each) < after)
  )
    .sort((a, b) => keyOf(a) < keyOf(b) ? 1 : -1);
  const data = rest.slice(0, limit);
  const has_more = rest.length > limit;
  return { data, has_more, next_page: has_more ? writeCursor(0, [keyOf(data.at(-1)!)]) : null };
}

/** Whether a member has the text that is searched; `undefined` where nothing is. */
export function createSearch<Member>(
  search: string | undefined,
  textsOf: (member: Member) => readonly (string | null | undefined)[],
): ((member: Member) => boolean) | undefined {
  const wanted = search?.trim().toLowerCase() ?? "";
  if (wanted === "") return undefined;
  return (member) => textsOf(member).some((text) => text?.toLowerCase().includes(wanted));
}

/** The number of the source, and the part of the key after its prefix. */
function writeCursor(source: number, rest: Key | undefined): string {
  return encodeBase64url(new TextEncoder().encode(JSON.stringify([source, rest ?? null])));
}

function readCursor(
  page: string,
  sources: readonly Source<never, unknown>[],
): { source: number; after: Key | undefined } {
  const [source, rest] = parseCursor(page);
  const found = sources[source];
  if (!found) throw invalidCursor();
  return { source, after: rest && [...found.prefix, ...rest] };
}

function readTextCursor(page: string): string {
  const [, rest] = parseCursor(page);
  if (typeof rest?.[0] !== "string") throw invalidCursor();
  return rest[0];
}

function parseCursor(page: string): readonly [source: number, rest: Key | undefined] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(decodeBase64url(page)));
  } catch {
    throw invalidCursor();
  }
  const [source, rest] = Array.isArray(parsed) ? parsed : [];
  if (!Number.isSafeInteger(source) || !(rest === null || isKey(rest))) throw invalidCursor();
  return [source, rest ?? undefined];
}

function isKey(parts: unknown): parts is Key {
  return Array.isArray(parts) && parts.length > 0 && parts.length <= MAX_KEY_PARTS &&
    parts.every((part) => typeof part === "string" || Number.isFinite(part));
}

function invalidCursor(): AdminError {
  return new AdminError("invalid_request_error", "page: must be next_page of the page before");
}
