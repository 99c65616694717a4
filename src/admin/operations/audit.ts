/**
 * Operations on the audit trail, newest records first, and on the calls of tools in it.
 *
 * @module
 */
import { type AuditRecord } from "../../observability/audit.ts";
import { AUDIT_TYPES } from "../../observability/audit_types.ts";
import { readAuditGroupsBackwards } from "../../observability/read_audit.ts";
import type { Store } from "../../store/store.ts";
import type { Page } from "../list_page.ts";
import { pageOf } from "../list_page.ts";
import { AdminError, type AdminOperation, type Schema, toIso } from "../operation.ts";
import { count, flag, input, object, orNull, text, time } from "../schema.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Records that one request reads. A page can have fewer members than its limit, or none, and still have a next page. */
const MAX_READ = 20_000;
/**
 * How much clocks of instances may differ. Records that waited for the end of an outage, or were written by a wrong clock, are
 * further from the order of their times.
 */
export const MAX_CLOCK_DIFFERENCE_MS = 3600_000;

/** A record in an answer. */
export interface AdminAuditRecord {
  readonly number: number;
  readonly time: string;
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly request: string | null;
}

/** A call of a tool in an answer. */
export interface AdminToolCall {
  readonly number: number;
  readonly time: string;
  readonly tool: string;
  readonly principal: string | null;
  readonly failed: boolean;
  readonly upstream: string | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly milliseconds: number | null;
  readonly request: string | null;
}

interface Window {
  readonly limit?: number;
  readonly page?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Which records. */
export interface AuditListQuery extends Window {
  readonly type?: string;
  readonly about?: string;
}

/** Which calls. */
export interface ToolCallQuery extends Window {
  readonly tool?: string;
  readonly principal?: string;
}

export const CURSOR: Schema = text("next_page of the page before", { max: 20 });
const WINDOW: Readonly<Record<string, Schema>> = {
  since: time("only records from this time on"),
  until: time("only records up to this time"),
  limit: { ...count("the most members of a page", { min: 1, max: MAX_LIMIT }), default: DEFAULT_LIMIT },
  page: CURSOR,
};
const RECORD: Readonly<Record<string, Schema>> = {
  number: count("from 1, without gaps"),
  time: time("when it was written"),
  request: orNull(text("the id of the request")),
};

export const listAudit: AdminOperation<AuditListQuery, Page<AdminAuditRecord>> = {
  name: "listAudit",
  method: "GET",
  path: "/audit",
  summary: "List records of the audit trail, newest first",
  input: input({
    type: text("only these types, such as login_failed; commas separate several", { min: 1, max: 1000 }),
    about: text("only records with this user, client or address", { min: 1, max: 256 }),
    ...WINDOW,
  }),
  output: pageOf(object({
    ...RECORD,
    type: text("the type of the event"),
    fields: { type: "object", description: "what the event says" },
  })),
  async run({ store }, { type, about, ...window }) {
    const types = type?.split(",");
    const unknown = types?.find((each) => !AUDIT_TYPES.includes(each));
    if (unknown !== undefined) {
      const known = AUDIT_TYPES.join(", ");
      throw new AdminError(
        "invalid_request_error",
        `type: unknown event ${JSON.stringify(unknown)}. Known: ${known}`,
      );
    }
    return await listRecords(
      store,
      window,
      (record) =>
        (types === undefined || types.includes(record.type)) &&
        (about === undefined || Object.values(record.fields).includes(about)),
      ({ number, time, type, fields, request = null }) => ({
        number,
        time: toIso(time),
        type,
        fields,
        request,
      }),
    );
  },
};

export const listToolCalls: AdminOperation<ToolCallQuery, Page<AdminToolCall>> = {
  name: "listToolCalls",
  method: "GET",
  path: "/tool_calls",
  summary: "List calls of tools in the audit trail, newest first",
  input: input({
    tool: text("only calls of this tool", { min: 1, max: 256 }),
    principal: text("only calls of this user, client or API key", { min: 1, max: 256 }),
    ...WINDOW,
  }),
  output: pageOf(object({
    ...RECORD,
    tool: text("the name of the tool"),
    principal: orNull(text("who called it; null for anonymous callers")),
    failed: flag("whether the result was an error"),
    upstream: orNull(text("the MCP server that the tool comes from; null for a tool of this server")),
    outcome: orNull(
      text(
        "ok, error, denied, asked, input_required, limited, timeout or cancelled; null where no policy decides",
      ),
    ),
    reason: orNull(text("why it was denied or limited")),
    milliseconds: orNull({ type: "number", minimum: 0, description: "how long it took" }),
  })),
  async run({ store }, { tool, principal, ...window }) {
    return await listRecords(
      store,
      window,
      ({ type, fields }) =>
        type === "tool_called" && (tool === undefined || fields.name === tool) &&
        (principal === undefined || fields.principal === principal),
      ({ number, time, fields, request = null }) => ({
        number,
        time: toIso(time),
        tool: String(fields.name),
        principal: fields.principal === undefined ? null : String(fields.principal),
        failed: fields.failed === true,
        upstream: textOrNull(fields.upstream),
        outcome: textOrNull(fields.outcome),
        reason: textOrNull(fields.reason),
        milliseconds: typeof fields.milliseconds === "number" ? fields.milliseconds : null,
        request,
      }),
    );
  },
};

/** The operations of this file. */
export const AUDIT_OPERATIONS: readonly AdminOperation[] = [listAudit, listToolCalls];

/** A page of the records that are found, backwards from the one in the cursor. */
async function listRecords<Member>(
  store: Store,
  { limit = DEFAULT_LIMIT, page, since, until }: Window,
  isFound: (record: AuditRecord) => boolean,
  toMember: (record: AuditRecord) => Member,
): Promise<Page<Member>> {
  const from = readTime("since", since) ?? 0;
  const to = readTime("until", until) ?? Infinity;
  const before = page === undefined ? Infinity : readNumber(page);
  const data: Member[] = [];
  let left = MAX_READ;
  let last = before;
  let isBeforeWindow = true;
  for await (const records of readAuditGroupsBackwards(store, before)) {
    for (const record of records.reverse()) {
      if (record.number >= before) continue;
      const isWanted = record.time >= from && record.time <= to && isFound(record);
      if (isWanted && data.length === limit || left-- === 0) {
        // Among so many, none was close to the window: what is before them is older.
        if (isBeforeWindow) return { data, has_more: false, next_page: null };
        return { data, has_more: true, next_page: String(last) };
      }
      last = record.number;
      isBeforeWindow &&= record.time < from - MAX_CLOCK_DIFFERENCE_MS;
      if (isWanted) data.push(toMember(record));
    }
  }
  return { data, has_more: false, next_page: null };
}

/** The cursor: the number of a record. @throws {AdminError} 400 */
export function readNumber(page: string): number {
  if (/^\d{1,15}$/.test(page)) return Number(page);
  throw new AdminError("invalid_request_error", "page: use next_page of the page before");
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Milliseconds since the epoch. @throws {AdminError} 400 */
export function readTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new AdminError("invalid_request_error", `${name}: must be a time in ISO 8601`);
  return ms;
}
