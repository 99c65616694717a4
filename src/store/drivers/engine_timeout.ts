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
  /** Why there is no connection now, where a driver knows it beside the error of a request. */
  readonly findFailure?: () => unknown;
}

/**
 * The result of a request to the engine.
 * @param onTimeout cancels the request, if that is possible
 * @throws {StoreUnavailableError} when the engine does not respond in time or is unavailable; otherwise what it threw, or why
 * no connection can be made
 */
export async function withinTimeout<Result>(
  timeout: EngineTimeout,
  answer: Promise<Result>,
  onTimeout: () => unknown = () => {},
): Promise<Result> {
  const { engine, milliseconds, reasonOf } = timeout;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `${engine} did not respond within ${milliseconds} ms`;
      reject(noConnection(timeout) ?? new StoreUnavailableError(message));
      onTimeout();
    }, timerDelay(milliseconds));
  });
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    const reason = error instanceof StoreUnavailableError ? undefined : reasonOf(error);
    if (reason === undefined) throw error;
    throw noConnection(timeout) ??
      new StoreUnavailableError(`${engine} is unavailable (${reason})`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** The error that says why there is no connection; `undefined` when that is unknown. */
function noConnection({ engine, reasonOf, findFailure }: EngineTimeout): Error | undefined {
  const cause = findFailure?.();
  if (cause === undefined) return undefined;
  const reason = reasonOf(cause);
  if (reason === undefined) {
    return new Error(`Cannot connect to ${engine}: ${(cause as Error).message}`, { cause });
  }
  return new StoreUnavailableError(`${engine} is unavailable (${reason})`, { cause });
}
