/**
 * Whether this server has a way out to the internet: whether its name server knows the servers of the root zone. That is
 * asked of the name server alone, and tells nobody else that this server runs.
 *
 * @module
 */
import { Resolver } from "node:dns/promises";

const TIMEOUT_MS = 1500;
const TRIES = 2;
/** How often it is asked again while there is none: the network may come up after the server. */
const ASK_EVERY_MS = 60 * 1000;

export interface WayOut {
  /** As far as is known by now; `false` until the first answer. */
  isOpen(): boolean;
  /** The first answer. */
  readonly found: Promise<boolean>;
  stop(): void;
}

/** @param servers `host:port` of name servers, for tests; the system's, when left out */
export async function hasWayOut(signal: AbortSignal, servers?: readonly string[]): Promise<boolean> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const stop = () => resolver.cancel();
  const timer = setTimeout(stop, TIMEOUT_MS * (TRIES + 1));
  signal.addEventListener("abort", stop, { once: true });
  try {
    return (await resolver.resolveNs(".")).length > 0;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Finds out now, and again and again until there is one, without holding anybody up. What was open stays open: a name
 * server that once does not answer must not turn away clients that are known by their documents.
 * @param changed hears what was found first, and when it opens later
 */
export function watchWayOut(
  changed: (isOpen: boolean) => void,
  ask: (signal: AbortSignal) => Promise<boolean> = hasWayOut,
  every: number = ASK_EVERY_MS,
): WayOut {
  let known: boolean | undefined;
  const stopping = new AbortController();
  const look = async () => {
    const isOpen = await ask(stopping.signal);
    if (isOpen) clearInterval(timer);
    if (isOpen !== known && known !== true && !stopping.signal.aborted) {
      known = isOpen;
      changed(isOpen);
    }
    return isOpen;
  };
  const timer = setInterval(look, every);
  timer.unref();
  const found = look();
  return {
    isOpen: () => known === true,
    found,
    stop() {
      stopping.abort();
      clearInterval(timer);
    },
  };
}
