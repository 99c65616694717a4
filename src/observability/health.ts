/**
 * `/healthz` and `/readyz`: whether the process is alive, and whether requests should be sent to it. For the programs that
 * watch servers; both say nothing else.
 *
 * @module
 */
import { NO_STORE, respondText } from "../http/response.ts";
import { checkNames, type Names } from "../options/option_check.ts";
import type { Key, Store } from "../store/store.ts";

/** How long the store may take. */
const STORE_TIMEOUT_MS = 2000;
/** How long a write that succeeded, or failed, counts. */
const WRITE_INTERVAL_MS = 10_000;
const FAILED_WRITE_INTERVAL_MS = 1000;
/** Written to find out whether the store accepts writes. */
const HEALTH_KEY: Key = ["health"];

/** The health checks of a server: `/healthz` and `/readyz`. */
export interface Health {
  /** The response at `/healthz` (200) or `/readyz` (200, or 503 with the reason); `undefined` for another path. */
  answer(path: string): Promise<Response | undefined>;
  /** The next `/readyz` tries a write. Call it when a commit failed. */
  doubtWrites(): void;
  /** From now on `/readyz` is 503. */
  drain(): void;
}

/** Options of the health checks. */
export interface HealthOptions {
  /** Called with the error when the store refuses the write of `/readyz`. */
  readonly onError?: (error: unknown) => void;
  /** Milliseconds since any fixed moment, for tests. @default `performance.now` */
  readonly monotonic?: () => number;
}

const NAMES: Names<HealthOptions> = { onError: "function", monotonic: "function" };

/**
 * The checks of a server with this store. `/readyz` reads from the store, and writes a small record to it at most every 10
 * seconds (every second while that fails): a store on a full or read-only disk can still be read.
 * @throws {TypeError} for an option that does not exist
 */
export function createHealth(store: Store, options: HealthOptions = {}): Health {
  checkNames("createHealth", options, NAMES);
  const { onError = () => {}, monotonic = () => performance.now() } = options;
  let isDraining = false;
  let write: { readonly began: number; readonly result: Promise<boolean> } | undefined;
  /** Of the last write; `undefined` while it runs. */
  let isWritten: boolean | undefined;
  let isDoubtful = false;

  const canRead = (): Promise<boolean> => store.get(["server_secret"]).then(() => true, () => false);

  async function tryWrite(): Promise<boolean> {
    try {
      await store.commit({ set: [{ key: HEALTH_KEY, value: true }] });
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  function canWrite(): Promise<boolean> {
    // One that runs may never end: on workerd it ends with the request that began it.
    const lasts = isWritten === undefined || isWritten && !isDoubtful;
    const interval = lasts ? WRITE_INTERVAL_MS : FAILED_WRITE_INTERVAL_MS;
    if (write && monotonic() - write.began < interval) return write.result;
    isDoubtful = false;
    isWritten = undefined;
    const result = tryWrite().then((done) => {
      if (write?.result === result) isWritten = done;
      return done;
    });
    write = { began: monotonic(), result };
    return result;
  }

  async function findProblem(): Promise<string | undefined> {
    if (isDraining) return "draining";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), STORE_TIMEOUT_MS);
    });
    try {
      if (!await Promise.race([canRead(), late])) return "the store does not answer";
      const accepts = await Promise.race([canWrite(), late]);
      if (accepts === undefined) return "the store does not answer";
      return accepts ? undefined : "the store does not accept writes";
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async answer(path) {
      if (path === "/healthz") return respondText(200, "ok", [NO_STORE]);
      if (path !== "/readyz") return undefined;
      const problem = await findProblem();
      return respondText(problem ? 503 : 200, problem ?? "ready", [NO_STORE]);
    },
    doubtWrites: () => void (isDoubtful = true),
    drain: () => void (isDraining = true),
  };
}
