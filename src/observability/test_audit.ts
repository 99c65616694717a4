/**
 * Test kit of this folder: an audit trail in memory, whose clock the test moves.
 *
 * @module
 */
import type { TrivetEvent } from "../events.ts";
import { memoryStore } from "../store/drivers/memory.ts";
import type { Store } from "../store/store.ts";
import { type Audit, type AuditRecord, createAudit } from "./audit.ts";
import { listAudit, readAuditGroups } from "./read_audit.ts";
import { type AuditVerification, verifyAudit, type VerifyOptions } from "./verify_audit.ts";

export const START: number = Date.UTC(2026, 10, 30);
export const DAY_MS: number = 86_400_000;
export const given = (user: string): TrivetEvent => ({
  type: "consent_given",
  user,
  client: "app",
  scope: "read",
});

export interface TestTrail {
  readonly store: Store;
  readonly now: () => number;
  readonly audit: Audit;
  /** Moves the clock. */
  pass(milliseconds: number): void;
  verify(options?: Partial<VerifyOptions>): Promise<AuditVerification>;
  all(): Promise<AuditRecord[]>;
}

export function newTrail(): TestTrail {
  let time = START;
  const now = () => time;
  const store = memoryStore({ now });
  return {
    store,
    now,
    audit: createAudit({ store, now }),
    pass: (milliseconds: number) => void (time += milliseconds),
    verify: (options: Partial<VerifyOptions> = {}) => verifyAudit(store, { now: time, ...options }),
    async all() {
      return await Array.fromAsync(listAudit(store));
    },
  };
}

/** A trail with these records, each with its own number as user. */
export async function filled(count: number): Promise<TestTrail> {
  const trail = newTrail();
  for (let i = 1; i <= count; i++) {
    trail.audit.add(given(`user_${i}`), `r-${i}`);
    // Groups of two.
    if (i % 2 === 0 && count < 100) await trail.audit.flush();
  }
  await trail.audit.close();
  return trail;
}
/** The texts of all groups, in order. */
export const groupsOf = ({ store }: { readonly store: Store }): Promise<string[]> =>
  Array.fromAsync(readAuditGroups(store));
