/**
 * Verifies the audit trail: finds records that were changed, inserted, moved or removed (`audit_test.ts`).
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../options/option_check.ts";
import type { Store } from "../store/store.ts";
import {
  AUDIT_HEAD,
  type AuditHead,
  DAY_MS,
  DEFAULT_RETENTION_DAYS,
  digestOf,
  type GroupHeader,
} from "./audit.ts";
import { readAuditGroups } from "./read_audit.ts";

/** The result of a verification. */
export type AuditVerification =
  | {
    readonly valid: true;
    readonly records: number;
    /** The number of the last record, and the digest of its group: keep them elsewhere. */
    readonly last: { readonly number: number; readonly digest: string } | undefined;
  }
  | { readonly valid: false; readonly number: number; readonly problem: string };

/** What a verification needs to know. */
export interface VerifyOptions {
  /** Milliseconds since the epoch, by the clock of the trail. */
  readonly now: number;
  /** For records of earlier versions, which do not say when they expire. @default as the last writer of the trail */
  readonly retentionDays?: number | undefined;
  /** What `last` was before: it must still be in the trail, unless it expired. */
  readonly noted?: { readonly number: number; readonly digest: string } | undefined;
}

const NAMES: Names<VerifyOptions> = { now: "number", retentionDays: "number", noted: "object" };

/** The header of a group and the numbers of its records; `undefined` for a malformed text. */
function parseGroup(text: string): GroupHeader & { readonly numbers: readonly number[] } | undefined {
  try {
    const [header, ...records] = text.split("\n").map((line) => JSON.parse(line));
    return records.length === 0 ? undefined : { ...header, numbers: records.map(({ number }) => number) };
  } catch {
    return undefined;
  }
}

/**
 * Checks every record, the links between them, and that only records whose time is over are missing at the beginning.
 * @throws {TypeError} for an option that does not exist
 */
export async function verifyAudit(
  store: Store,
  options: VerifyOptions,
): Promise<AuditVerification> {
  checkNames("verifyAudit", options, NAMES);
  const { now, noted } = options;
  const head = (await store.get<AuditHead>(AUDIT_HEAD))?.value;
  checkWhole("verifyAudit.now", now, 0);
  checkWhole("verifyAudit.retentionDays", options.retentionDays ?? 1, 1);
  const retentionDays = options.retentionDays ?? head?.retentionDays ?? DEFAULT_RETENTION_DAYS;
  let last: { number: number; digest: string } | undefined;
  let records = 0;
  for await (const text of readAuditGroups(store)) {
    const group = parseGroup(text);
    if (!group) {
      return { valid: false, number: (last?.number ?? 0) + 1, problem: "the records cannot be read" };
    }
    const { previous, previousTime, previousExpires, numbers } = group;
    const digest = await digestOf(new TextEncoder().encode(text));
    const number = numbers[0]!;
    const fail = (problem: string): AuditVerification => ({ valid: false, number, problem });
    if (numbers.some((each, i) => each !== number + i)) return fail("records are missing, or were moved");
    if (last === undefined) {
      const isExpired = (previousExpires ?? previousTime + retentionDays * DAY_MS) <= now;
      if (number > 1 && !isExpired) return fail("records before this one are missing");
    } else if (number !== last.number + 1) return fail("records before this one are missing, or were moved");
    else if (previous !== last.digest) return fail("a record before this one was changed");
    last = { number: numbers.at(-1)!, digest };
    // Its group ended there, and still does.
    const holdsNoted = noted && number <= noted.number && noted.number <= last.number;
    if (holdsNoted && (noted.number !== last.number || noted.digest !== digest)) {
      return fail("the records are not those that were noted");
    }
    if (head?.number === last.number && digest !== head.digest) return fail("a record was changed");
    records += numbers.length;
  }
  if (head && (!last || last.number < head.number)) {
    const isExpired = (head.expires ?? head.time + retentionDays * DAY_MS) <= now;
    if (last || !isExpired) {
      return { valid: false, number: head.number, problem: "records at the end are missing" };
    }
  }
  if (!head && last) {
    return { valid: false, number: last.number, problem: "the head of the trail is missing" };
  }
  if (noted && (head?.number ?? 0) < noted.number) {
    return { valid: false, number: noted.number, problem: "the noted record is missing" };
  }
  return { valid: true, records, last };
}
