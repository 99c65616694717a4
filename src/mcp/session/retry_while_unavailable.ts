/**
 * Retries store operations while the store is unavailable: for work that no client can request again.
 *
 * @module
 */
import { StoreUnavailableError } from "../../store/store.ts";
import { MAX_STORE_OUTAGE_MS } from "../lease.ts";

const RETRY_INTERVAL_MS = 250;

/**
 * Runs `work`, which must be idempotent, until it succeeds or a minute is over. `onAttempt` is called after each attempt.
 * @throws {StoreUnavailableError} of the last attempt, and any other error at once
 */
export async function retryWhileUnavailable<Result>(
  work: () => Promise<Result>,
  onAttempt: () => void = () => {},
): Promise<Result> {
  const deadline = performance.now() + MAX_STORE_OUTAGE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() > deadline) throw error;
    } finally {
      onAttempt();
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
  }
}
