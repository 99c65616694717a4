/**
 * `trivet audit`: the audit trail of a store.
 *
 * @module
 */
import process from "node:process";
import { type AuditQuery, type AuditRecord, listAudit, readAuditGroups } from "../../observability/audit.ts";
import { verifyAudit } from "../../observability/verify_audit.ts";
import { DATA_OPTIONS, readPlace, withStore } from "./data.ts";
import { unknownAction } from "./actions.ts";
import { describeOptions, readArguments, type ValuesOf } from "./options.ts";
import { formatTime, printLine, printTable } from "./output.ts";
import { printableText } from "./printable_text.ts";

const DAY_MS = 86_400_000;

const COMMON_OPTIONS = { ...DATA_OPTIONS, json: { summary: "print JSON" } } as const;
const QUERY_OPTIONS = {
  type: { value: "NAME", isRepeatable: true, summary: "only events of this type, such as login_failed" },
  about: { value: "TEXT", summary: "only events with this user id, client id or address" },
  since: {
    value: "TIME",
    summary: "only events from this time on: 2026-11-30, 2026-11-30T12:00:00Z, or 2d, 3h, 10m ago",
    parse: (text: string): number | undefined => readTime(text),
    expected: "a date, a time in UTC, or a number with d, h or m",
  },
  last: {
    value: "N",
    range: [1, 1_000_000],
    summary: "only the last N of them",
    shownDefault: "100; export: all",
  },
} as const;
const VERIFY_OPTIONS = {
  noted: {
    value: "NUMBER:DIGEST",
    summary: "a record that an earlier verification printed: it must still be there",
    parse: (text: string): { number: number; digest: string } | undefined => {
      const match = /^(\d+):([\w-]{43})$/.exec(text);
      return match ? { number: Number(match[1]), digest: match[2]! } : undefined;
    },
    expected: "a number, a colon and a digest",
  },
} as const;

export const help: string = `trivet audit: lists, verifies and exports the audit trail

Usage: trivet audit list [options]
       trivet audit verify [options]
       trivet audit export [options]

${describeOptions(COMMON_OPTIONS)}

list, export:
${describeOptions(QUERY_OPTIONS)}

verify:
${describeOptions(VERIFY_OPTIONS)}

"export" prints a JSON object on each line. Without options these are the stored texts: before each group of records
a line with the SHA-256 (base64url) of the lines of the group before, joined by line feeds.

Examples:
  trivet audit list --type login_failed --since 1d
  trivet audit verify
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action] } = readArguments(
    argv,
    { ...COMMON_OPTIONS, ...QUERY_OPTIONS, ...VERIFY_OPTIONS },
    1,
  );
  const place = readPlace(values, process.env);
  switch (action) {
    case "list":
      return await withStore(place, async (store) => {
        const records = await takeLast(listAudit(store, toQuery(values)), values.last ?? 100);
        if (values.json) return printLine(JSON.stringify(records));
        printTable(["NUMBER", "TIME", "EVENT", "ABOUT"], records.map(toRow));
      });
    case "export":
      return await withStore(place, async (store) => {
        const query = toQuery(values);
        if (values.last === undefined && Object.values(query).every((value) => value === undefined)) {
          for await (const text of readAuditGroups(store)) printLine(text);
          return;
        }
        const records = listAudit(store, query);
        const wanted = values.last === undefined ? records : await takeLast(records, values.last);
        for await (const record of wanted) printLine(JSON.stringify(record));
      });
    case "verify":
      return await withStore(place, async (store) => {
        const now = store.now?.() ?? Date.now();
        const { noted } = values;
        const result = await verifyAudit(store, { now, noted });
        if (values.json) printLine(JSON.stringify(result));
        if (!result.valid) {
          throw new Error(`The audit trail is broken at record ${result.number}: ${result.problem}`);
        }
        if (values.json) return;
        const { records, last } = result;
        printLine(`${records} records, in groups that are linked to the one before`);
        if (last) printLine(`last    ${last.number}:${last.digest}   (note it: --noted)`);
      });
    default:
      throw unknownAction(action, ["list", "verify", "export"]);
  }
}

function toQuery({ type, about, since }: ValuesOf<typeof QUERY_OPTIONS>): AuditQuery {
  return { types: type, about, since };
}

async function takeLast(records: AsyncIterable<AuditRecord>, count: number): Promise<AuditRecord[]> {
  const kept: AuditRecord[] = [];
  for await (const record of records) {
    kept.push(record);
    if (kept.length >= 2 * count) kept.splice(0, kept.length - count);
  }
  return kept.slice(-count);
}

function toRow({ number, time, type, fields, request }: AuditRecord): string[] {
  const about = Object.entries({ ...fields, request }).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`).join(" ");
  return [String(number), formatTime(time), type, printableText(about, 160)];
}

/** Milliseconds since the epoch. */
function readTime(text: string): number | undefined {
  const ago = /^(\d{1,6})([dhm])$/.exec(text);
  if (ago) {
    return Date.now() - Number(ago[1]) * { d: DAY_MS, h: 3_600_000, m: 60_000 }[ago[2] as "d" | "h" | "m"];
  }
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
