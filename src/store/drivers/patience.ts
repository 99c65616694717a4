/**
 * How long a driver waits for its engine, and what it says when the wait was in vain: one way for all engines on a network.
 *
 * @module
 */
import { StoreUnavailableError } from "../store.ts";
import { timerDelay } from "../timer.ts";

export interface Patience {
  /** The engine's name, for messages. */
  readonly engine: string;
  readonly milliseconds: number;
  /** Why the engine is out of reach, in a word; `undefined` for an error that will not pass by itself. */
  readonly reasonOf: (error: unknown) => string | undefined;
}

/**
 * What the engine answers in time.
 * @param onLate takes back what was asked, where that can be done
 * @throws {StoreUnavailableError} when it does not, or is out of reach; else what it threw
 */
export async function answerInTime<Result>(
  { engine, milliseconds, reasonOf }: Patience,
  answer: Promise<Result>,
  onLate: () => unknown = () => {},
): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new StoreUnavailableError(`${engine} did not answer within ${milliseconds} ms`));
      onLate();
    }, timerDelay(milliseconds));
  });
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    const reason = error instanceof StoreUnavailableError ? undefined : reasonOf(error);
    if (reason === undefined) throw error;
    throw new StoreUnavailableError(`${engine} is out of reach (${reason})`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
