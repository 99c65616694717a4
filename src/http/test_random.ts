/**
 * Test kit: deterministic random numbers, so that a failure can be reproduced.
 *
 * @module
 */

/** Creates a function that returns an integer from 0 to below `limit`: splitmix32, https://prng.di.unimi.it. */
export function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = state + 0x9e3779b9 | 0;
    let mixed = Math.imul(state ^ state >>> 16, 0x21f0aaad);
    mixed = Math.imul(mixed ^ mixed >>> 15, 0x735a2d97);
    return ((mixed ^ mixed >>> 15) >>> 0) % limit;
  };
}
