/**
 * Reads the audit trail: records that match, and groups as they are stored, in both directions.
 *
 * @module
 */
import { checkNames, type Names } from "../options/option_check.ts";
import type { Entry, Key, Store } from "../store/store.ts";
import { AUDIT_GROUPS, type AuditRecord, groupKey } from "./audit.ts";

/** Which records to list. Without members: all. */
export interface AuditQuery {
  /** Only records after this number. */
  readonly after?: number | undefined;
  /** Only records of these types. */
  readonly types?: readonly string[] | undefined;
  /** Only records of which a member has this value: a user, a client, an address. */
  readonly about?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

const NAMES: Names<AuditQuery> = {
  after: "number",
  types: "string[]",
  about: "string",
  since: "number",
  until: "number",
};

/** The records that match, from the oldest to the newest. @throws {TypeError} for a member that does not exist */
export async function* listAudit(store: Store, query: AuditQuery = {}): AsyncGenerator<AuditRecord> {
  checkNames("listAudit", query, NAMES);
  const { after = 0, types, about, since = 0, until = Infinity } = query;
  for await (const text of readAuditGroups(store)) {
    for (const line of text.split("\n").slice(1)) {
      const record = JSON.parse(line) as AuditRecord;
      if (record.number <= after || record.time < since || record.time > until) continue;
      if (types && !types.includes(record.type)) continue;
      if (about !== undefined && !Object.values(record.fields).includes(about)) continue;
      yield record;
    }
  }
}

/** The texts of all groups, from the oldest to the newest: the digest of each is in the first line of the next. */
export async function* readAuditGroups(store: Store): AsyncGenerator<string> {
  for await (const { text } of readNumberedGroups(store)) yield text;
}

/** A group, and the number of its first record. */
export interface NumberedGroup {
  readonly first: number;
  readonly text: string;
}

/** The groups from the oldest to the newest. @param after only groups that begin after this number */
export async function* readNumberedGroups(store: Store, after: number = 0): AsyncGenerator<NumberedGroup> {
  let last: Key = groupKey(after);
  for (;;) {
    const page: Entry<Uint8Array>[] = await store.list(AUDIT_GROUPS, { limit: 20, after: last });
    for (const { key, value } of page) yield { first: Number(key[1]), text: new TextDecoder().decode(value) };
    if (page.length < 20) return;
    last = page.at(-1)!.key;
  }
}

/**
 * The records of each group, from the newest to the oldest group; within a group from the oldest on.
 * @param before only groups that begin before this number
 */
export async function* readAuditGroupsBackwards(
  store: Store,
  before: number = Infinity,
): AsyncGenerator<AuditRecord[]> {
  let after: Key | undefined = before === Infinity ? undefined : groupKey(before);
  for (;;) {
    const page: Entry<Uint8Array>[] = await store.list(AUDIT_GROUPS, {
      limit: 20,
      reverse: true,
      ...(after && { after }),
    });
    for (const { value } of page) {
      const [, ...lines] = new TextDecoder().decode(value).split("\n");
      yield lines.map((line) => JSON.parse(line) as AuditRecord);
    }
    if (page.length < 20) return;
    after = page.at(-1)!.key;
  }
}
