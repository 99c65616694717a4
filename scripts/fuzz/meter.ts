/**
 * What one request costs: calls of the store, bytes written to it, and the longest time for which it held the event loop.
 *
 * @module
 */
import { processorTime } from "../../src/http/test_loop_watchdog.ts";
import type { Commit, Store } from "../../src/store/store.ts";

export interface Cost {
  /** Calls of `get`, `list`, `commit` and `watch`. */
  readonly storeCalls: number;
  /** Bytes of keys and values that were set, also of those that were replaced. */
  readonly storedBytes: number;
  /** Processor time of the longest turn of the event loop, in milliseconds. */
  readonly loopMs: number;
}

export interface Meter {
  readonly store: Store;
  /** For requests: work that goes on behind answers is counted, too. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** Runs one request at a time. */
  measure<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result; readonly cost: Cost }>;
}

/** Runs after the events that wait; workerd, whose clock stands still while code runs, has none and is not measured. */
const { setImmediate } = globalThis as { setImmediate?: (turn: () => void) => void };

/** Written now and then, for many requests together: how often skills were shown. */
const isOfMany = ({ set = [] }: Commit): boolean => set.every(({ key }) => key[0] === "skill_usage");

/** Measures requests to a server on this store. */
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
      if (!isOfMany(commit)) counted.storedBytes += sizeOf(commit);
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

/** The longest turn of the event loop while the work goes on. */
export async function measureTurns<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly loopMs: number }> {
  let loopMs = 0;
  let isRunning = true;
  let started = processorTime();
  const turn = (): void => {
    const now = processorTime();
    loopMs = Math.max(loopMs, now - started);
    started = now;
    if (isRunning) setImmediate?.(turn);
  };
  setImmediate?.(turn);
  try {
    const result = await work();
    return { result, loopMs: Math.max(loopMs, processorTime() - started) };
  } finally {
    isRunning = false;
  }
}

function sizeOf({ set = [] }: Commit): number {
  let bytes = 0;
  for (const { key, value } of set) {
    bytes += JSON.stringify(key).length +
      (value instanceof Uint8Array ? value.length : JSON.stringify(value).length);
  }
  return bytes;
}
