/**
 * Splits long work into time slices, so that requests do not block the event loop, one or many: after each small step, the
 * work checks whether its slice is over, and if so lets other work run first.
 *
 * @module
 */
import { nextTurn } from "./next_turn.ts";

/** How long work may run before other work gets a turn. */
export const MAX_SLICE_MS = 10;

/** When the current turn of the event loop began, as far as slices know: those of one turn share its time. */
let turn = -Infinity;
/** Slices that wait for a turn, in the order in which they get one. */
const waiting = new Set<WorkSlice>();
/** On workerd a request that ended early does not run its timers: an older turn is over, and an older wait has ended. */
const MAX_TURN_MS = 100;

/** The beginning of the current turn. */
function findTurn(): number {
  const now = performance.now();
  if (now - turn > MAX_TURN_MS) {
    turn = now;
    setTimeout(() => turn = -Infinity, 0);
  }
  return turn;
}

/**
 * Measures the current time slice. On workerd, whose clock stops while code runs, a slice never ends.
 *
 * @example
 * ```ts
 * import { WorkSlice } from "./work_slice.ts";
 * const slice = new WorkSlice();
 * for (let step = 0; step < 100; step++) {
 *   // … a step of at most a few milliseconds …
 *   if (slice.isOver) await slice.yield();
 * }
 * ```
 */
export class WorkSlice {
  #since: number = findTurn();
  #asked = 0;

  get isOver(): boolean {
    return performance.now() - this.#since > MAX_SLICE_MS;
  }

  /** Lets other work run, then starts a new slice, after the slices that wait already and when the turn has time left. */
  async yield(): Promise<void> {
    do {
      waiting.add(this);
      this.#asked = performance.now();
      await nextTurn();
      this.#since = findTurn();
    } while (this.isOver || !this.#isNext());
    waiting.delete(this);
  }

  #isNext(): boolean {
    for (const slice of waiting) {
      if (slice === this) return true;
      if (performance.now() - slice.#asked <= MAX_TURN_MS) return false;
      waiting.delete(slice);
    }
    return false;
  }
}
