/**
 * The audit trail: an append-only list of events in the store. The records of one commit are a group, which has the digest
 * of the group before, so that a record that was changed, inserted or removed is found (`audit_test.ts`). Who can write to
 * the whole store can also write a new trail: keep the digest that `verify` prints outside of it.
 *
 * Records are written {@linkcode FLUSH_MS} after the event, or later when the write before took long: a store may stop the
 * process meanwhile, as SQLite does. What a process had not written when it was killed is lost; `close` writes the rest.
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../options/option_check.ts";
import { encodeBase64url } from "../crypto/base64url.ts";
import { digestLarge } from "../crypto/large_digest.ts";
import type { TrivetEvent } from "../events.ts";
import { LOST_RACE, retryLostRaces } from "../store/retry.ts";
import { type Check, type Key, type Put, type Store, timeOf } from "../store/store.ts";
import { IS_AUDITED } from "./audit_types.ts";
import { createFailureBudget } from "./failure_budget.ts";
import { describeEventJson, type LogFields } from "./log.ts";

const FLUSH_MS = 50;
/** After a write there is a pause of so many times its duration, so that little of a busy process's time is spent on it. */
const PAUSE_RATIO = 40;
const MAX_PAUSE_MS = 1000;
/** After this the failures of a minute are summed up, even if nothing else happens. */
const SUMMARY_MS = 61_000;
/** Records of one group. */
const MAX_GROUP = 1000;
/** Records of one commit. */
const MAX_COMMIT = 10 * MAX_GROUP;
/** Events that wait while the store is down. Later ones are counted in a record of their own. */
const MAX_WAITING = 20_000;
export const DAY_MS = 86_400_000;
export const DEFAULT_RETENTION_DAYS = 400;

/** The key of {@linkcode AuditHead}. */
export const AUDIT_HEAD: Key = ["audit_head"];
/** Groups are below it, by the number of their first record. */
export const AUDIT_GROUPS: Key = ["audit"];
export const groupKey = (first: number): Key => [...AUDIT_GROUPS, first];

/** What a record says. */
export interface AuditRecord {
  /** From 1, without gaps. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly type: string;
  readonly fields: LogFields;
  /** The id of the request. */
  readonly request?: string;
}

/**
 * The first line of a group. A group is stored under the number of its first record, as text: this line, and a line of
 * JSON for each record.
 */
export interface GroupHeader {
  /** The digest of the text of the group before, and the time of its last record; empty and 0 for the first group. */
  readonly previous: string;
  readonly previousTime: number;
  /** When the group before expires. Absent for the first group, and where an earlier version wrote it. */
  readonly previousExpires?: number;
}

/** The end of the trail. */
export interface AuditHead {
  readonly number: number;
  readonly digest: string;
  readonly time: number;
  /** As the last writer kept its records. */
  readonly retentionDays?: number;
  /** When the last group expires. Absent where an earlier version wrote it. */
  readonly expires?: number;
}

/** Options of an audit trail. */
export interface AuditOptions {
  readonly store: Store;
  /** Milliseconds since the epoch. @default the store's clock, else Date.now */
  readonly now?: () => number;
  /**
   * Days after which a record is removed, but never before older ones: fewer days than before take effect when the records
   * until now have expired. @default as the last writer of the trail, else 400
   */
  readonly retentionDays?: number;
  /** Called when records could not be written; they are tried again. */
  readonly onError?: (error: unknown) => void;
}

const NAMES: Names<AuditOptions> = {
  store: "object",
  now: "function",
  retentionDays: "number",
  onError: "function",
};

/** An audit trail that is open for writing. */
export interface Audit {
  /**
   * Adds an event. Returns at once.
   * @param request the id of the request in which it happened
   * @param time when it happened, in milliseconds since the epoch. @default now
   */
  add(event: TrivetEvent, request?: string, time?: number): void;
  /** Resolves when everything added before is written. @throws {StoreUnavailableError} */
  flush(): Promise<void>;
  /** Writes the rest, once, and stops. @throws {StoreUnavailableError} when records were not written: they are lost */
  close(): Promise<void>;
}

/** A record without its number: the JSON of its other members, and its time. */
interface Waiting {
  readonly time: number;
  readonly members: string;
}

/** @param fields as JSON */
function toWaiting(time: number, type: string, fields: string, request?: string): Waiting {
  const id = request ? `,"request":${JSON.stringify(request)}` : "";
  return { time, members: `"time":${time},"type":"${type}","fields":${fields}${id}` };
}

/** A trail in this store. Several instances can write to one trail. */
export function createAudit(options: AuditOptions): Audit {
  checkNames("createAudit", options, NAMES);
  const { store, now: clock, retentionDays, onError = () => {} } = options;
  if (retentionDays !== undefined) checkWhole("createAudit.retentionDays", retentionDays, 1);
  const now = clock ?? (() => timeOf(store));
  const budget = createFailureBudget(now);
  let waiting: Waiting[] = [];
  let dropped = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let summaryTimer: ReturnType<typeof setTimeout> | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** The write after that, which has not begun. */
  let next: Promise<void> | undefined;
  let isClosing = false;
  /** The first records that wait, which a commit may have written whose outcome is unknown. */
  let unknown = 0;
  /** For each such commit the number of its first record, with the digest of its first group. */
  const tried = new Map<number, string>();
  /** By `performance.now()`. */
  let pauseEnds = 0;

  function keep(record: Waiting, count = 1): void {
    if (waiting.length >= MAX_WAITING) dropped += count;
    else waiting.push(record);
  }

  function flushLater(milliseconds: number): void {
    timer ??= setTimeout(() => void flush().catch(onError), milliseconds);
  }

  /** Also without another event: sums that wait for the end of their minute would else wait for the next one. */
  function sumUpLater(): void {
    summaryTimer ??= setTimeout(() => void flush().catch(onError), SUMMARY_MS);
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    clearTimeout(summaryTimer);
    timer = summaryTimer = undefined;
    for (const { type, fields } of budget.takeSummaries()) {
      keep(toWaiting(now(), type, JSON.stringify(fields)), Number(fields["count"]));
    }
    if (budget.hasSums()) sumUpLater();
    // One record, however often writing fails: the next one waits until this one is written.
    if (dropped > 0 && waiting.length <= MAX_WAITING) {
      waiting.push(toWaiting(now(), "audit_dropped", JSON.stringify({ count: dropped })));
      dropped = 0;
    }
    // It takes all that waits when it begins. One for each call would make `close` wait for as many timeouts of the store.
    if (next) return next;
    const done = next = writing.then(async () => {
      next = undefined;
      const began = performance.now();
      // What is added meanwhile waits for its own flush: under load each would else be a commit of its own.
      for (let left = waiting.length; left > 0;) {
        unknown ||= Math.min(left, MAX_COMMIT);
        await append(store, waiting.slice(0, unknown), retentionDays, tried);
        waiting = waiting.slice(unknown);
        left -= unknown;
        unknown = 0;
        tried.clear();
      }
      if (dropped > 0 && !isClosing) flushLater(FLUSH_MS);
      const ended = performance.now();
      pauseEnds = ended + Math.min(PAUSE_RATIO * (ended - began), MAX_PAUSE_MS);
    });
    // The next flush tries again what this one could not write.
    writing = done.catch(() => {
      if (waiting.length > 0 && !isClosing) flushLater(1000);
    });
    return done;
  }

  return {
    add(event, request, time = now()) {
      if (IS_AUDITED[event.type] === false) return;
      if (!budget.admits(event)) {
        sumUpLater();
        return;
      }
      keep(toWaiting(time, event.type, describeEventJson(event), request));
      flushLater(Math.max(FLUSH_MS, pauseEnds - performance.now()));
    },
    flush,
    async close() {
      budget.end();
      isClosing = true;
      try {
        do await flush(); while (waiting.length > 0 || dropped > 0);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/**
 * Writes records in groups, in one commit, unless an earlier commit did.
 * @param tried the earlier commits of these records whose outcome is unknown; this one is added when it fails
 */
async function append(
  store: Store,
  records: readonly Waiting[],
  retentionDays: number | undefined,
  tried: Map<number, string>,
): Promise<void> {
  await retryLostRaces(async () => {
    // Before the groups: an earlier commit that is done after them changes the head, so that this one fails.
    const entry = await store.get<AuditHead>(AUDIT_HEAD);
    for (const [number, digest] of tried) if (await hasGroup(store, number, digest)) return;
    let head = entry?.value.expires !== undefined ? entry.value : await readLast(store, entry?.value);
    const days = retentionDays ?? head.retentionDays ?? DEFAULT_RETENTION_DAYS;
    const first = head.number + 1;
    const digests: string[] = [];
    const set: Put[] = [];
    for (let at = 0; at < records.length; at += MAX_GROUP) {
      const group = records.slice(at, at + MAX_GROUP);
      const value = new TextEncoder().encode(writeGroup(head, group));
      const { time } = group.at(-1)!;
      // Never before the group before: what is missing at the beginning is all that has expired.
      const expires = Math.max(head.expires ?? 0, time + days * DAY_MS);
      set.push({ key: groupKey(head.number + 1), value, expires });
      const digest = await digestOf(value);
      digests.push(digest);
      head = { number: head.number + group.length, time, digest, retentionDays: days, expires };
    }
    const check: Check[] = [{ key: AUDIT_HEAD, version: entry?.version ?? null }];
    try {
      return await store.commit({ check, set: [...set, { key: AUDIT_HEAD, value: head }] }) || LOST_RACE;
    } catch (error) {
      tried.set(first, digests[0]!);
      throw error;
    }
  });
}

/** Whether the trail has a group that begins with this record and has this digest. */
async function hasGroup(store: Store, first: number, digest: string): Promise<boolean> {
  const entry = await store.get<Uint8Array>(groupKey(first));
  return entry !== undefined && await digestOf(entry.value) === digest;
}

/** The text of the group after `head`. */
function writeGroup({ number, digest, time, expires }: AuditHead, records: readonly Waiting[]): string {
  const header: GroupHeader = {
    previous: digest,
    previousTime: time,
    ...(expires !== undefined && { previousExpires: expires }),
  };
  let text = JSON.stringify(header);
  for (const { members } of records) text += `\n{"number":${++number},${members}}`;
  return text;
}

/** The end of the trail by its records, where the head is missing or an earlier version wrote it. */
async function readLast(store: Store, head?: AuditHead): Promise<AuditHead> {
  const [entry] = await store.list<Uint8Array>(AUDIT_GROUPS, { limit: 1, reverse: true });
  const expires = entry?.expires === undefined ? {} : { expires: entry.expires };
  if (head) return { ...head, ...expires };
  if (!entry) return { number: 0, digest: "", time: 0 };
  const text = new TextDecoder().decode(entry.value);
  const { number, time } = JSON.parse(text.split("\n").at(-1)!) as AuditRecord;
  return { number, time, digest: await digestOf(entry.value), ...expires };
}

/** The SHA-256 digest of a group. */
export async function digestOf(group: Uint8Array): Promise<string> {
  return encodeBase64url(await digestLarge(group));
}
