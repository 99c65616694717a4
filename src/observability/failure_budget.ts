/**
 * Limits the records that strangers can cause: of the failures of one kind and one caller in a minute, the first are kept
 * one by one and the others as one record with their number.
 *
 * @module
 */
import type { TrivetEvent } from "../events.ts";
import type { LogFields } from "./log.ts";

/** Events that anyone can cause without permission. */
const FAILURES: ReadonlySet<TrivetEvent["type"]> = new Set([
  "login_failed",
  "passkey_refused",
  "sign_in_failed",
  "client_refused",
  "token_refused",
  "client_registered",
  "skill_refused",
  "rate_limited",
]);

const MINUTE_MS = 60_000;
/** Kept one by one in a minute: of one kind and caller, and in total. */
const MAX_PER_CALLER = 5;
const MAX_OVERALL = 300;
/** Callers that are counted apart. The others count together. */
const MAX_CALLERS = 1000;

/** A record that stands for several events. */
export interface FailureSummary {
  readonly type: string;
  readonly fields: LogFields;
}

export interface FailureBudget {
  /** Whether the event gets a record of its own. Others are counted. */
  admits(event: TrivetEvent): boolean;
  /** The counts of minutes that are over. */
  takeSummaries(): FailureSummary[];
  /** Whether the current minute has counts, which are summed up when it is over. */
  hasSums(): boolean;
  /** Ends the current minute. */
  end(): void;
}

/** @param now milliseconds since the epoch */
export function createFailureBudget(now: () => number): FailureBudget {
  let began = now();
  let kept = 0;
  let counts = new Map<
    string,
    { readonly type: string; readonly caller: string; kept: number; more: number }
  >();
  let summaries: FailureSummary[] = [];

  function end(): void {
    for (const { type, caller, more } of counts.values()) {
      if (more > 0) {
        summaries.push({ type, fields: { caller, count: more, since: new Date(began).toISOString() } });
      }
    }
    began = now();
    kept = 0;
    counts = new Map();
  }

  /** Also when the clock was set back: else the minute would last until it has caught up. */
  function endIfOver(): void {
    const time = now();
    if (time < began || time - began >= MINUTE_MS) end();
  }

  return {
    admits(event) {
      if (!FAILURES.has(event.type)) return true;
      endIfOver();
      const { ip, workspace } = event as { readonly ip?: string; readonly workspace?: string };
      const caller = ip ?? workspace ?? "unknown";
      const name = `${event.type} ${caller}`;
      let count = counts.get(name);
      if (!count) {
        const shared = counts.size >= MAX_CALLERS;
        const key = shared ? `${event.type} others` : name;
        count = counts.get(key) ?? { type: event.type, caller: shared ? "others" : caller, kept: 0, more: 0 };
        counts.set(key, count);
      }
      if (count.kept >= MAX_PER_CALLER || kept >= MAX_OVERALL) {
        count.more++;
        return false;
      }
      count.kept++;
      kept++;
      return true;
    },
    takeSummaries() {
      endIfOver();
      const taken = summaries;
      summaries = [];
      return taken;
    },
    hasSums: () => [...counts.values()].some(({ more }) => more > 0),
    end,
  };
}
