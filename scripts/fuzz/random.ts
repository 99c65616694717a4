/**
 * Pseudorandom choices: the same seed repeats a run.
 *
 * @module
 */

export interface Random {
  /** A whole number below `limit`. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** True about once in `n`. */
  oneIn(n: number): boolean;
}

/** xorshift32, which is sufficient for choices and the same on every runtime. */
export function createRandom(seed: number): Random {
  let state = (seed | 0) || 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  return {
    below,
    pick: (items) => items[below(items.length)]!,
    oneIn: (n) => below(n) === 0,
  };
}
