/**
 * Vectors that Trivet passes and that fail on no mutant, each with the reason. Every other vector has failed on one
 * (promise 7 of `FORMAT.md`), and `npm run mutants` fails when this list is not true.
 *
 * @module
 */
export const UNTROUBLED: Readonly<Record<string, string>> = {};
