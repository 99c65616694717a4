/**
 * The time that a request waits for its next byte, in either direction.
 *
 * @module
 */

export interface Timeout {
  /** Aborts when the time is over, or the user interrupts the command. */
  readonly signal: AbortSignal;
  readonly url: URL;
  /** Starts the time again: a byte was sent or received. */
  restart(): void;
  stop(): void;
}

/** @param interrupt ends the request too */
export function startTimeout(url: URL, interrupt: AbortSignal, timeoutMs: number): Timeout {
  const controller = new AbortController();
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    clearTimeout(timer);
    interrupt.removeEventListener("abort", end);
  };
  const end = () => {
    stop();
    controller.abort(interrupt.reason);
  };
  const expire = () => {
    stop();
    const seconds = timeoutMs / 1000;
    controller.abort(
      new Error(
        `Timeout: no byte from ${url.host} for ${seconds} seconds. Try again, or use a longer --timeout`,
      ),
    );
  };
  let timer = setTimeout(expire, timeoutMs);
  if (interrupt.aborted) end();
  else interrupt.addEventListener("abort", end);
  return {
    signal: controller.signal,
    url,
    stop,
    restart() {
      // An upload that was refused can still be read: a timer would keep the process alive.
      if (isStopped) return;
      clearTimeout(timer);
      timer = setTimeout(expire, timeoutMs);
    },
  };
}
