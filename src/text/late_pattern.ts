/**
 * Regular expressions with many characters, compiled when they are first used.
 *
 * @module
 */

/**
 * Returns a function for the expression. What `\p{…}` stands for is collected when a literal is parsed, also in a function
 * that never runs: 4 ms for the two of an e-mail address, of a start of 100.
 */
export function latePattern(source: string, flags: string): () => RegExp {
  let compiled: RegExp | undefined;
  return () => compiled ??= new RegExp(source, flags);
}
