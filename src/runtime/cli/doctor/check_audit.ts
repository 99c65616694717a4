/**
 * Verifies the audit trail, for a limited time.
 *
 * @module
 */
import { verifyAudit } from "../../../observability/verify_audit.ts";
import { type Store, timeOf } from "../../../store/store.ts";
import { fail, type Finding, ok } from "./finding.ts";

const MAX_MS = 10_000;

class TimeIsOver extends Error {}

/** @param maxMs after which what was read so far is all right */
export async function checkAudit(store: Store, maxMs: number = MAX_MS): Promise<readonly Finding[]> {
  const now = timeOf(store);
  const end = performance.now() + maxMs;
  let groups = 0;
  const limited: Pick<Store, "get" | "list"> = {
    get: store.get.bind(store),
    async list<Value>(...args: Parameters<Store["list"]>) {
      if (performance.now() >= end) throw new TimeIsOver();
      const page = await store.list<Value>(...args);
      groups += page.length;
      return page;
    },
  };
  try {
    const result = await verifyAudit(limited as Store, { now });
    if (!result.valid) {
      const what = `the audit trail is broken at record ${result.number}: ${result.problem}`;
      return [fail("audit", what, "find out who can write to the store, and restore a backup")];
    }
    return [ok("audit", `the audit trail is whole: ${result.records} records`)];
  } catch (error) {
    if (!(error instanceof TimeIsOver)) throw error;
    return [ok("audit", `the first ${groups} groups of the audit trail are whole; all: trivet audit verify`)];
  }
}
