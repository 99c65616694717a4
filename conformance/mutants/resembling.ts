/**
 * Vectors that send a value which resembles the right one.
 *
 * @module
 */

/** The vectors of these ids in every file of values that resemble the right ones. */
export const resembling = (...ids: readonly string[]): string[] =>
  ["encoding", "letter_case", "prefix"].flatMap((suite) => ids.map((id) => `oauth/${suite}/${id}`));
