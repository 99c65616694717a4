/**
 * `/healthz` and `/readyz`: whether the process is alive, and whether requests should be sent to it. For the programs that
 * watch servers; both say nothing else.
 *
 * @module
 */
import { NO_STORE, respondText } from "../http/response.ts";
import type { Store } from "../store/store.ts";

/** How long the store may take. */
const STORE_TIMEOUT_MS = 2000;

/** The health checks of a server: `/healthz` and `/readyz`. */
export interface Health {
  /** The response at `/healthz` (200) or `/readyz` (200, or 503 with the reason); `undefined` for another path. */
  answer(path: string): Promise<Response | undefined>;
  /** From now on `/readyz` is 503. */
  drain(): void;
}

/** The checks of a server with this store. */
export function createHealth(store: Store): Health {
  let isDraining = false;

  async function isStoreReady(): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<boolean>((resolve) =>
      timer = setTimeout(() => resolve(false), STORE_TIMEOUT_MS)
    );
    try {
      return await Promise.race([store.get(["server_secret"]).then(() => true, () => false), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async answer(path) {
      if (path === "/healthz") return respondText(200, "ok", [NO_STORE]);
      if (path !== "/readyz") return undefined;
      if (isDraining) return respondText(503, "draining", [NO_STORE]);
      return await isStoreReady()
        ? respondText(200, "ready", [NO_STORE])
        : respondText(503, "the store does not answer", [NO_STORE]);
    },
    drain: () => void (isDraining = true),
  };
}
