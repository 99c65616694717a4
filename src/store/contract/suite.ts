/**
 * What the tests of the contract get: an empty store, and a clock that they can advance.
 *
 * @module
 */
import type { suite } from "uvu";
import type { FormatOptions } from "../format.ts";
import type { Store } from "../store.ts";

/** A clock that a test can advance. It starts at the current time, since engines may have their own clocks. */
export interface TestClock {
  now: () => number;
  advance(milliseconds: number): void;
}

export interface ContractOptions {
  /** Opens an empty store with this clock. */
  readonly open: (now: () => number) => Promise<Store>;
  /** Opens the store of the last `open` again. Absent for stores that do not persist. */
  readonly reopen?: (now: () => number, options?: FormatOptions) => Promise<Store>;
  /** Rounds of the tests of concurrent commits. @default 1000 */
  readonly rounds?: number;
}

export type ContractSuite = ReturnType<typeof suite<{ store: Store; clock: TestClock }>>;
