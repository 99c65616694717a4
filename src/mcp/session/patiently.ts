/**
 * Doing again what a store that is away for a moment kept from being done: for work that nobody can ask for again.
 *
 * @module
 */
import { StoreUnavailableError } from "../../store/store.ts";

/** How long, and how often, in milliseconds. */
const PATIENCE = 60_000;
const TRY_EVERY = 250;

/**
 * Work that may be done twice, until it is done, or for a minute. `tried` hears of each try.
 * @throws what it threw last, and at once what will not pass by itself
 */
export async function patiently<Result>(
  work: () => Promise<Result>,
  tried: () => void = () => {},
): Promise<Result> {
  const late = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || performance.now() > late) throw error;
    } finally {
      tried();
    }
    await new Promise((resolve) => setTimeout(resolve, TRY_EVERY));
  }
}
