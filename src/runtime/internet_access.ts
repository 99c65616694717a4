/**
 * Whether this server can reach the internet: whether its name server knows the servers of the DNS root zone. Only the
 * name server is asked, so no third party learns that this server runs.
 *
 * @module
 */
import { Resolver } from "node:dns/promises";

const TIMEOUT_MS = 1500;
const MAX_TRIES = 2;
/** How often the name server is asked while there is no access: the network may come up after the server. */
const RETRY_INTERVAL_MS = 60 * 1000;

export interface InternetAccess {
  /** As far as is known by now; `false` until the first result. */
  isOpen(): boolean;
  /** The first result. */
  readonly first: Promise<boolean>;
  stop(): void;
}

/** @param servers `host:port` of name servers, for tests; the system's, when left out */
export async function hasInternetAccess(signal: AbortSignal, servers?: readonly string[]): Promise<boolean> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: MAX_TRIES });
  if (servers) resolver.setServers(servers);
  const stop = () => resolver.cancel();
  const timer = setTimeout(stop, TIMEOUT_MS * (MAX_TRIES + 1));
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
 * Checks now, and again and again until there is access, in the background. Access that was found is not checked again:
 * one failure of a name server must not refuse clients that are identified by their documents.
 * @param onChange called with the first result, and when access is found later
 */
export function watchInternetAccess(
  onChange: (isOpen: boolean) => void,
  check: (signal: AbortSignal) => Promise<boolean> = hasInternetAccess,
  intervalMs: number = RETRY_INTERVAL_MS,
): InternetAccess {
  let known: boolean | undefined;
  const stopping = new AbortController();
  const checkNow = async () => {
    const isOpen = await check(stopping.signal);
    if (isOpen) clearInterval(timer);
    if (isOpen !== known && known !== true && !stopping.signal.aborted) {
      known = isOpen;
      onChange(isOpen);
    }
    return isOpen;
  };
  const timer = setInterval(checkNow, intervalMs);
  timer.unref();
  const first = checkNow();
  return {
    isOpen: () => known === true,
    first,
    stop() {
      stopping.abort();
      clearInterval(timer);
    },
  };
}
