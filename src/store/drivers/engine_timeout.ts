/**
 * The timeout of a driver for its engine, and the error when the engine does not respond: the same for all engines on a
 * network.
 *
 * @module
 */
import { StoreUnavailableError } from "../store.ts";
import { timerDelay } from "../../timer.ts";

export interface EngineTimeout {
  /** The engine's name, for messages. */
  readonly engine: string;
  readonly milliseconds: number;
  /** The reason, in a word, why the engine is unavailable; `undefined` for an error that a retry cannot solve. */
  readonly reasonOf: (error: unknown) => string | undefined;
}

/**
 * The result of a request to the engine.
 * @param onTimeout cancels the request, if that is possible
 * @throws {StoreUnavailableError} when the engine does not respond in time or is unavailable; otherwise what it threw
 */
export async function withinTimeout<Result>(
  { engine, milliseconds, reasonOf }: EngineTimeout,
  answer: Promise<Result>,
  onTimeout: () => unknown = () => {},
): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new StoreUnavailableError(`${engine} did not respond within ${milliseconds} ms`));
      onTimeout();
    }, timerDelay(milliseconds));
  });
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    const reason = error instanceof StoreUnavailableError ? undefined : reasonOf(error);
    if (reason === undefined) throw error;
    throw new StoreUnavailableError(`${engine} is unavailable (${reason})`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
