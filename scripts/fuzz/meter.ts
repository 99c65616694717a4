/**
 * Measures the cost of one request: store calls, stored bytes, and the longest turn of the event loop.
 *
 * @module
 */
import { processorTime } from "../../src/http/test_loop_watchdog.ts";
import type { Commit, Store } from "../../src/store/store.ts";

export interface Cost {
  /** Calls of `get`, `list`, `commit` and `watch`. */
  readonly storeCalls: number;
  /** Bytes of keys and values in commits, including replaced ones. */
  readonly storedBytes: number;
  /** Processor time of the longest turn of the event loop, in milliseconds. */
  readonly loopMs: number;
}

export interface Meter {
  readonly store: Store;
  /** For the context of requests: work after the response also counts. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Measures one request. Requests must not run concurrently. */
  measure<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result; readonly cost: Cost }>;
}

/** Not available on workerd, whose clock does not advance while code runs, so turns are not measured there. */
const { setImmediate } = globalThis as { setImmediate?: (turn: () => void) => void };

/** Written after the response: counts of skill usage, for many requests together, and changes, for open MCP streams. */
const WRITTEN_LATER: ReadonlySet<unknown> = new Set(["skill_usage", "mcp_change_count", "mcp"]);
const isWrittenLater = ({ set = [] }: Commit): boolean =>
  set.every(({ key: [kind, of] }) => WRITTEN_LATER.has(kind) && (kind !== "mcp" || of === "change"));

/** Creates a store that counts, for a server whose requests are measured. */
export function createMeter(inner: Store): Meter {
  const counted = { storeCalls: 0, storedBytes: 0 };
  const pending = new Set<Promise<unknown>>();
  const count = <Result>(work: () => Result): Result => {
    counted.storeCalls++;
    return work();
  };
  const store: Store = {
    guarantees: inner.guarantees,
    ...(inner.now && { now: () => inner.now!() }),
    get: (key, options) => count(() => inner.get(key, options)),
    list: (prefix, options) => count(() => inner.list(prefix, options)),
    commit: (commit) => {
      if (!isWrittenLater(commit)) counted.storedBytes += measureBytes(commit);
      return count(() => inner.commit(commit));
    },
    watch: (prefix) => count(() => inner.watch(prefix)),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  return {
    store,
    waitUntil(work) {
      const settled = work.catch(() => {}).finally(() => pending.delete(settled));
      pending.add(settled);
    },
    async measure(work) {
      const { storeCalls, storedBytes } = counted;
      const { result, loopMs } = await measureTurns(async () => {
        const result = await work();
        while (pending.size > 0) await Promise.all(pending);
        return result;
      });
      return {
        result,
        cost: {
          storeCalls: counted.storeCalls - storeCalls,
          storedBytes: counted.storedBytes - storedBytes,
          loopMs,
        },
      };
    },
  };
}

/** Measures the longest turn of the event loop during the work. */
async function measureTurns<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly loopMs: number }> {
  let loopMs = 0;
  let isRunning = true;
  let started = readClocks();
  const measure = (): void => {
    const now = readClocks();
    // Other threads may have worked while this one waited, so the time that passed is the upper limit.
    loopMs = Math.max(loopMs, Math.min(now.wall - started.wall, now.processor - started.processor));
    started = now;
  };
  const turn = (): void => {
    measure();
    if (isRunning) setImmediate?.(turn);
  };
  setImmediate?.(turn);
  try {
    const result = await work();
    measure();
    return { result, loopMs };
  } finally {
    isRunning = false;
  }
}

function readClocks(): { readonly wall: number; readonly processor: number } {
  return { wall: performance.now(), processor: processorTime() };
}

function measureBytes({ set = [] }: Commit): number {
  let bytes = 0;
  for (const { key, value } of set) {
    bytes += JSON.stringify(key).length +
      (value instanceof Uint8Array ? value.length : JSON.stringify(value).length);
  }
  return bytes;
}
