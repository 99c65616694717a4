/**
 * Waits for a connection that several calls share.
 *
 * @module
 */
import { UpstreamFailure } from "./failure.ts";

/**
 * Waits for a connection, which is not given up when this call is.
 * @param timeout milliseconds
 * @throws {UpstreamFailure} after the timeout @throws the reason of the signal, what connecting throws
 */
export async function waitToConnect(
  connecting: Promise<unknown>,
  timeout: number,
  signal: AbortSignal,
): Promise<void> {
  connecting.catch(() => {});
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = (): void => {};
  const limit = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort);
    const text = `is still connecting after ${timeout / 1000} s. The call was not executed. Try again.`;
    timer = setTimeout(() => reject(new UpstreamFailure(text)), timeout);
  });
  try {
    await Promise.race([connecting, limit]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
