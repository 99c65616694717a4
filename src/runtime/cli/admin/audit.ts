/**
 * `trivet audit`: the audit trail of a store or a server.
 *
 * @module
 */
import type { Page } from "../../../admin/list_page.ts";
import { type AdminAuditRecord, listAudit } from "../../../admin/operations/audit.ts";
import { exportAudit, verifyAudit } from "../../../admin/operations/audit_groups.ts";
import type { AuditRecord } from "../../../observability/audit.ts";
import { AUDIT_TYPES } from "../../../observability/audit_types.ts";
import { suggest } from "../nearest.ts";
import type { ValuesOf } from "../options.ts";
import { formatTime, printError, printLine, printTable, UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import type { CallOperation } from "./admin_target.ts";
import { readPages } from "./list_action.ts";
import { SINCE_OPTION } from "./since_option.ts";

const MAX_DETAIL_CHARACTERS = 160;

const QUERY_OPTIONS = {
  type: {
    value: "NAME",
    isRepeatable: true,
    summary: "only events of this type, such as login_failed",
    parse: (text: string): string => readType(text),
    expected: "the type of an event",
  },
  about: { value: "TEXT", summary: "only events with this user id, client id or address" },
  since: SINCE_OPTION,
} as const;
const LAST_OPTION = { value: "N", range: [1, 1_000_000], summary: "only the last N of them" } as const;

const list: AdminAction = adminAction({
  operands: "",
  summary: "lists the last records, the newest at the end",
  options: { ...QUERY_OPTIONS, last: { ...LAST_OPTION, default: 100 } },
  async run({ call, values: { type, about, since, last } }): Promise<Page<AdminAuditRecord>> {
    const query = { type: type?.join(","), about, since: toIso(since) };
    const { data, ...page } = await readPages(call, listAudit, query, last);
    return { ...page, data: data.toReversed() };
  },
  print({ data, has_more }) {
    printTable(
      ["NUMBER", "TIME", "EVENT", "ABOUT"],
      data.map(({ number, time, type, fields, request }) => [
        String(number),
        formatTime(time),
        type,
        describe({ ...fields, request: request ?? undefined }),
      ]),
    );
    if (has_more) printError(`There are more than the last ${data.length}: --last`);
  },
});

const exportTrail: AdminAction = adminAction({
  operands: "",
  summary: "prints all records as lines of JSON, the newest at the end",
  options: { ...QUERY_OPTIONS, last: { ...LAST_OPTION, shownDefault: "all" } },
  async run({ call, values }): Promise<void> {
    const { type, about, since, last } = values;
    if ([type, about, since, last].every((each) => each === undefined)) {
      for await (const text of readGroups(call, undefined)) printLine(text);
      return;
    }
    const kept: string[] = [];
    for await (const text of readGroups(call, toIso(since))) {
      for (const line of text.split("\n").slice(1)) {
        if (!isWanted(JSON.parse(line) as AuditRecord, values)) continue;
        if (last === undefined) printLine(line);
        else if (kept.push(line) >= 2 * last) kept.splice(0, kept.length - last);
      }
    }
    for (const line of kept.slice(-(last ?? 0))) printLine(line);
  },
  print() {},
});

const verify: AdminAction = adminAction({
  operands: "",
  summary: "finds records that were changed, inserted, moved or removed",
  options: {
    noted: {
      value: "NUMBER:DIGEST:EXPIRES",
      summary: "a record that an earlier verification printed: it must still be there, unless it expired",
      parse: (text: string): string | undefined =>
        /^\d{1,15}:[\w-]{43}(:\d{1,15})?$/.test(text) ? text : undefined,
      expected: "what an earlier verification printed: a number, a digest and a time, with colons between",
    },
  },
  run: ({ call, values: { noted } }) => call(verifyAudit, { noted }),
  print({ valid, records, number, digest, expires }) {
    if (!valid) return;
    printLine(
      `${records === 1 ? "1 record" : `${records} records`}, in groups that are linked to the one before`,
    );
    if (number !== null) printLine(`last    ${number}:${digest}:${expires}   (note it: --noted)`);
  },
  findProblem: ({ valid, number, problem }) =>
    valid ? null : `The audit trail is broken at record ${number}: ${problem}`,
});

export const command: AdminCommand = adminCommand({
  name: "audit",
  title: "who did what: the audit trail",
  actions: { list, verify, export: exportTrail },
  notes:
    `"export" without options prints the stored texts: before each group of records a line with the SHA-256
(base64url) of the lines of the group before, joined by line feeds.`,
  examples: [
    "trivet audit list --type login_failed --since 1d",
    "trivet audit verify",
    "trivet audit export --url https://agents.example.com > audit.jsonl",
  ],
});

/** The texts of the groups, from the oldest on. Only one page is in memory. */
async function* readGroups(call: CallOperation, since: string | undefined): AsyncGenerator<string> {
  let page: string | undefined;
  for (;;) {
    const { data, next_page } = await call(exportAudit, { since, page });
    for (const { text } of data) yield text;
    if (next_page === null) return;
    if (Number(next_page) <= Number(page ?? 0)) {
      throw new Error("Invalid list: the server returned the same page again");
    }
    page = next_page;
  }
}

function isWanted(
  { type, time, fields }: AuditRecord,
  { type: types, about, since = 0 }: ValuesOf<typeof QUERY_OPTIONS>,
): boolean {
  return time >= since && (types === undefined || types.includes(type)) &&
    (about === undefined || Object.values(fields).includes(about));
}

/** @throws {UsageError} for a type that no record can have: nothing would be found */
function readType(text: string): string {
  if (AUDIT_TYPES.includes(text)) return text;
  const near = suggest(text, AUDIT_TYPES) || `. Types: ${AUDIT_TYPES.join(", ")}`;
  throw new UsageError(`--type: unknown event type "${text}"${near}`);
}

function toIso(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

function describe(fields: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
  return printableText(pairs.map(([name, value]) => `${name}=${value}`).join(" "), MAX_DETAIL_CHARACTERS);
}
