/**
 * Operations on the audit trail as it is stored, in groups of records: export and verification.
 *
 * @module
 */
import { type NumberedGroup, readNumberedGroups } from "../../observability/read_audit.ts";
import { type NotedGroup, verifyAudit as verify } from "../../observability/verify_audit.ts";
import { type Page, pageOf } from "../list_page.ts";
import { AdminError, type AdminOperation } from "../operation.ts";
import { count, flag, input, object, orNull, text, time } from "../schema.ts";
import { CURSOR, MAX_CLOCK_DIFFERENCE_MS, readNumber, readTime } from "./audit.ts";

/** Groups that one request of an export reads. */
const MAX_READ = 1000;
/** Characters after which a page of an export ends. */
const MAX_CHARACTERS = 1024 * 1024;

/** Which groups. */
export interface AuditExportQuery {
  readonly page?: string;
  readonly since?: string;
}

export const exportAudit: AdminOperation<AuditExportQuery, Page<NumberedGroup>> = {
  name: "exportAudit",
  method: "GET",
  path: "/audit/groups",
  summary: "Read the audit trail as it is stored, oldest first",
  input: input({ since: time("only groups with a record from this time on"), page: CURSOR }),
  output: pageOf(object({
    first: count("the number of its first record"),
    text: {
      type: "string",
      description: "a line with the SHA-256 of the group before (base64url), and a line for each record",
    },
  })),
  async run({ store }, { page, since }) {
    const from = (readTime("since", since) ?? 0) - MAX_CLOCK_DIFFERENCE_MS;
    const data: NumberedGroup[] = [];
    let after = page === undefined ? 0 : readNumber(page);
    let read = 0;
    let characters = 0;
    for await (const group of readNumberedGroups(store, after)) {
      if (read++ === MAX_READ || characters > MAX_CHARACTERS) {
        return { data, has_more: true, next_page: String(after) };
      }
      after = group.first;
      if (!hasRecordFrom(group.text, from)) continue;
      characters += group.text.length;
      data.push(group);
    }
    return { data, has_more: false, next_page: null };
  },
};

/** Records of a group need not be in the order of their times. One that cannot be read counts. */
function hasRecordFrom(text: string, from: number): boolean {
  const [, ...records] = text.split("\n");
  return records.some((record) => !(Number(/^{"number":\d+,"time":(\d+)/.exec(record)?.[1]) < from));
}

/** What a verification found. */
export interface AdminVerification {
  readonly valid: boolean;
  readonly records: number;
  readonly problem: string | null;
  readonly number: number | null;
  readonly digest: string | null;
  readonly expires: number | null;
}

/** One at a time in a process: it reads the whole trail. */
let isVerifying = false;

/** How to verify. */
export interface AuditVerificationQuery {
  readonly retention_days?: number;
  readonly noted?: string;
}

export const verifyAudit: AdminOperation<AuditVerificationQuery, AdminVerification> = {
  name: "verifyAudit",
  method: "POST",
  path: "/audit/verify",
  summary: "Check that no record of the audit trail was changed, inserted, moved or removed",
  input: input({
    retention_days: count("as the trail has it; 400 when left out", { min: 1, max: 36_500 }),
    noted: {
      ...text(
        "number, digest and expires of an earlier verification, with colons between: they must still be there",
      ),
      pattern: "^[0-9]{1,15}:[A-Za-z0-9_-]{43}(:[0-9]{1,15})?$",
    },
  }),
  output: object({
    valid: flag("whether the trail is complete"),
    records: count("how many records were checked; 0 for a trail that is not valid"),
    problem: orNull(text("what is wrong")),
    number: orNull(count("the last record, or the one where the problem is")),
    digest: orNull(text("the digest of the last group: keep it elsewhere")),
    expires: orNull(count("when that group expires, in milliseconds since the epoch: keep it, too")),
  }),
  async run({ store, now }, { retention_days, noted }) {
    if (isVerifying) throw new AdminError("conflict_error", "A verification is running: wait until it ends");
    isVerifying = true;
    try {
      const result = await verify(store, {
        now: now(),
        retentionDays: retention_days,
        noted: noted === undefined ? undefined : readNoted(noted),
      });
      return result.valid
        ? {
          valid: true,
          records: result.records,
          problem: null,
          number: result.last?.number ?? null,
          digest: result.last?.digest ?? null,
          expires: result.last?.expires ?? null,
        }
        : {
          valid: false,
          records: 0,
          problem: result.problem,
          number: result.number,
          digest: null,
          expires: null,
        };
    } finally {
      isVerifying = false;
    }
  },
};

function readNoted(noted: string): NotedGroup {
  const [number, digest, expires] = noted.split(":");
  return {
    number: Number(number),
    digest: digest!,
    expires: expires === undefined ? expires : Number(expires),
  };
}

/** The operations of this file. */
export const AUDIT_GROUP_OPERATIONS: readonly AdminOperation[] = [exportAudit, verifyAudit];
