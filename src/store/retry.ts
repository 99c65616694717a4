/**
 * Trying a commit again after it lost a race: a bounded number of times, with a random and growing pause between tries,
 * so that those who race do not meet again at once.
 *
 * @module
 */
import { StoreUnavailableError } from "./store.ts";

/** Tries of one change before its caller is asked to come back. */
export const MAX_COMMIT_TRIES = 20;
/** The pauses grow up to this, so that all tries together wait about a second. */
const MAX_PAUSE_MS = 100;

/** What an attempt resolves to when another commit was first. */
export const LOST_RACE: unique symbol = Symbol("lost race");

/**
 * The result of the first attempt that is not {@linkcode LOST_RACE}. Each attempt reads again what it changes.
 * @throws {StoreUnavailableError} when every attempt lost: nothing was done, and the caller may try again in a second
 */
export async function retryLostRaces<Result>(
  attempt: () => Promise<Result | typeof LOST_RACE>,
): Promise<Result> {
  for (let tries = 0; tries < MAX_COMMIT_TRIES; tries++) {
    if (tries > 0) await pauseBefore(tries);
    const result = await attempt();
    if (result !== LOST_RACE) return result;
  }
  throw new StoreUnavailableError("Too many requests change the same record: try again in a second");
}

/** Waits before a try, counted from 1: longer each time, and never the same for two callers. */
export function pauseBefore(tries: number): Promise<void> {
  const longest = Math.min(2 ** tries, MAX_PAUSE_MS);
  return new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
}
