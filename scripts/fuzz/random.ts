/**
 * Random choices that a seed repeats: what a run found, the same seed finds again.
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

/** xorshift32: enough for choices, and the same everywhere. */
export function newRandom(seed: number): Random {
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
