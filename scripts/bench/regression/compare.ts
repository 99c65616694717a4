/**
 * Compares the processor time of two calls in one process: they run in turn, and the minimum of each is compared, because
 * other load, garbage collection and compilation only add to it.
 *
 * @module
 */
import process from "node:process";
import type { Call } from "./hot_rows.ts";

/** How long a comparison takes: about twice the product. */
export interface Effort {
  readonly slices: number;
  /** Milliseconds. */
  readonly slice: number;
}

/** Calls between two readings of the clock. */
const BATCH = 20;

/** Resolves to the processor time of `previous` divided by that of `current`: below 1, `current` is slower. */
export async function compareCosts(
  previous: Call,
  current: Call,
  { slices, slice }: Effort,
): Promise<number> {
  const minima = new Map([[previous, Infinity], [current, Infinity]]);
  for (let i = 0; i < slices; i++) {
    for (const call of i % 2 === 0 ? [previous, current] : [current, previous]) {
      minima.set(call, Math.min(minima.get(call)!, await measureCost(call, slice)));
    }
  }
  return minima.get(previous)! / minima.get(current)!;
}

/** Resolves to the microseconds of processor time of a call. */
async function measureCost(call: Call, slice: number): Promise<number> {
  const used = process.cpuUsage();
  const end = performance.now() + slice;
  let count = 0;
  do {
    for (let i = 0; i < BATCH; i++) await call();
    count += BATCH;
  } while (performance.now() < end);
  const { user, system } = process.cpuUsage(used);
  return (user + system) / count;
}
