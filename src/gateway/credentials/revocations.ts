/**
 * Revokes the tokens of connections that ended: by the user, or with the user or the upstream. They
 * wait in the store, so that a restart or an authorization server that does not answer loses none.
 *
 * @module
 */
import { REVOCATIONS, type UpstreamRevocation } from "../../oauth/connection_records.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { compareAndSet, type Entry, listAll } from "../../store/store.ts";
import type { CredentialsContext } from "./context.ts";
import { revokeTokens, type SealedTokens } from "./oauth_tokens.ts";

/** Revocations of one round. */
const MAX_ROUND = 20;
/** How long one is left to the instance that tries it, and how long it waits after a failure, in milliseconds. */
const LEASE_MS = 30_000;
const PAUSE_MS = 10 * 60_000;
/** How often an instance looks for revocations that others left. */
const LOOK_INTERVAL_MS = 60_000;

export interface Revocations {
  /**
   * Revokes what waits, each by one instance. Never fails: what could not be revoked is tried again for a week.
   * @param max how many. @default 20
   */
  run(max?: number): Promise<void>;
  /** As `run`, at most once a minute. */
  runSometimes(): void;
}

export function createRevocations(context: CredentialsContext): Revocations {
  const { store, now, observe, records } = context;
  let next = 0;

  async function run(max = MAX_ROUND): Promise<void> {
    try {
      let count = 0;
      for await (const entry of listAll<UpstreamRevocation>(store, REVOCATIONS)) {
        const wait = (entry.value.refresh?.until ?? 0) - now();
        // A longer one comes from a clock that was ahead and is corrected.
        if (wait > 0 && wait <= PAUSE_MS) continue;
        await revokeOne(entry);
        if (++count >= max) return;
      }
    } catch (error) {
      observe({ type: "fault", where: "gateway", error });
    }
  }

  async function revokeOne(entry: Entry<UpstreamRevocation>): Promise<void> {
    const { key, value, version } = entry;
    if (!await compareAndSet(store, key, version, waitFor(value, LEASE_MS), entry.expires)) return;
    try {
      const tokens = await records.open<SealedTokens>(entry);
      if (!tokens) throw new Error("It was sealed by another server");
      await revokeTokens(context, value, tokens);
      await store.commit({ remove: [key] });
    } catch {
      await retryLostRaces(async () => {
        // It may have been sealed anew, or revoked by another instance, meanwhile.
        const found = await store.get<UpstreamRevocation>(key);
        if (!found) return true;
        const waiting = waitFor(found.value, PAUSE_MS);
        return await compareAndSet(store, key, found.version, waiting, found.expires) || LOST_RACE;
      });
      const [, user, upstream] = key as [string, string, string];
      observe({ type: "connection_failed", user, upstream, reason: "not_revoked" });
    }
  }

  function waitFor(value: UpstreamRevocation, milliseconds: number): UpstreamRevocation {
    return { ...value, refresh: { by: "", until: now() + milliseconds } };
  }

  return {
    run,
    runSometimes() {
      if (now() < next && now() >= next - LOOK_INTERVAL_MS) return;
      next = now() + LOOK_INTERVAL_MS;
      void run();
    },
  };
}
