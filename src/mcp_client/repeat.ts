/**
 * Tries something again and again with growing pauses: streams that end, and what a new session needs.
 *
 * @module
 */
import { ConnectionError, McpError } from "./error.ts";
import { SessionLost, type StreamEnd } from "./transport.ts";
import { wait } from "./wait.ts";
import type { Wire } from "./wire.ts";

const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 60_000;
/** A stream that was open longer ended for a regular reason. */
const LONG_MS = 30_000;

export interface Repeating {
  readonly wire: Wire;
  /** Begins a new session, with streams of its own. @throws when that fails */
  readonly onSessionLost: () => Promise<void>;
}

/** Opens a stream again and again until the signal aborts, or it gives up. Never rejects. */
export async function repeat(
  { wire, onSessionLost }: Repeating,
  signal: AbortSignal,
  open: (isAgain: boolean) => Promise<StreamEnd>,
): Promise<void> {
  let pause = MIN_PAUSE_MS;
  for (let isAgain = false; !signal.aborted && !wire.ended; isAgain = true) {
    const began = performance.now();
    const retry = await openOnce(() => open(isAgain), onSessionLost);
    if (retry === undefined) return;
    if (performance.now() - began > LONG_MS) pause = MIN_PAUSE_MS;
    await wait(Math.max(retry, pause * (0.5 + Math.random() / 2)), signal).catch(() => {});
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  }
}

/** Opens a stream and waits for its end. The milliseconds after which the server wants it opened again; `undefined` for never. */
async function openOnce(
  open: () => Promise<StreamEnd>,
  onSessionLost: Repeating["onSessionLost"],
): Promise<number | undefined> {
  try {
    const end = await open();
    return end === "unsupported" ? undefined : Math.min(end.retry ?? 0, MAX_PAUSE_MS);
  } catch (error) {
    // A new session ends this: it has a stream of its own.
    if (error instanceof SessionLost) await onSessionLost().catch(() => {});
    // Credentials do not become valid by waiting: the next request of a caller obtains others.
    else if (!isPassing(error)) return undefined;
    return 0;
  }
}

/** `AccessUnavailable`, which `headers` of the gateway throw, is recognized by its name: this module does not depend on it. */
export function isPassing(error: unknown): boolean {
  return error instanceof McpError || error instanceof ConnectionError && error.reason !== "refused" ||
    error instanceof Error && error.name === "AccessUnavailable";
}
