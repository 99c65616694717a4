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
    /** Keep it elsewhere. */
    readonly last: NotedGroup & { readonly expires: number } | undefined;
  }
  | { readonly valid: false; readonly number: number; readonly problem: string };

/** The group that a verification found at the end of a trail. */
export interface NotedGroup {
  /** Of its last record. */
  readonly number: number;
  readonly digest: string;
  /** When it expires, in milliseconds since the epoch. The trail itself proves no expiry: who writes it anew writes that too. */
  readonly expires?: number | undefined;
}

/** What a verification needs to know. */
export interface VerifyOptions {
  /** Milliseconds since the epoch, by the clock of the trail. */
  readonly now: number;
  /** For records of earlier versions, which do not say when they expire. @default as the last writer of the trail */
  readonly retentionDays?: number | undefined;
  /** What `last` was before: it must still be in the trail, unless it says itself that it has expired. */
  readonly noted?: NotedGroup | undefined;
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
  let last: Omit<NotedGroup, "expires"> | undefined;
  let holdsNoted = false;
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
    if (noted && number <= noted.number && noted.number <= last.number) {
      holdsNoted = true;
      if (noted.number !== last.number || noted.digest !== digest) {
        return fail("the records are not those that were noted");
      }
    }
    if (head?.number === last.number && digest !== head.digest) return fail("a record was changed");
    records += numbers.length;
  }
  const expires = head ? head.expires ?? head.time + retentionDays * DAY_MS : 0;
  if (head && (!last || last.number < head.number)) {
    if (last || expires > now) {
      return { valid: false, number: head.number, problem: "records at the end are missing" };
    }
  }
  if (!head && last) {
    return { valid: false, number: last.number, problem: "the head of the trail is missing" };
  }
  if (noted && !holdsNoted && (noted.expires ?? Infinity) > now) {
    return { valid: false, number: noted.number, problem: "the noted record is missing" };
  }
  return { valid: true, records, last: last && { ...last, expires } };
}
