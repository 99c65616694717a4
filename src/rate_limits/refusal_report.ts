/**
 * Events about refused requests, at a bounded rate: a flood of requests is not a flood of events.
 *
 * @module
 */
import type { Observe } from "../events.ts";
import type { Limit } from "./limit.ts";
import type { CountedCaller } from "./shared_count.ts";

/** Of one caller, one event in this time. */
const INTERVAL_MS = 1000;
/** Events of all callers in this time. */
const MAX_EVENTS_PER_INTERVAL = 20;

/** Who made the request, as far as it is known. */
export interface RefusedCaller {
  readonly client?: string | undefined;
  readonly user?: string | undefined;
  readonly ip: string | undefined;
}

/** Notes a refused request. Its event, at once or with a later one, has the number of requests since the last. */
export type ReportRefusal = (limit: Limit, caller: CountedCaller, who: RefusedCaller) => void;

/** Starts to report. */
export function createRefusalReports(observe: Observe): ReportRefusal {
  let began = -Infinity;
  let events = 0;
  return ({ name, scope }, caller, { client, user, ip }) => {
    caller.refused++;
    const at = performance.now();
    if (at - caller.reportedAt < INTERVAL_MS) return;
    if (at - began >= INTERVAL_MS) {
      began = at;
      events = 0;
    }
    if (++events > MAX_EVENTS_PER_INTERVAL) return;
    observe({
      type: "rate_limited",
      scope,
      limit: name,
      ...(scope === "client" && client !== undefined && { client }),
      ...(scope === "user" && user !== undefined && { user }),
      ip,
      count: caller.refused,
    });
    caller.refused = 0;
    caller.reportedAt = at;
  };
}
