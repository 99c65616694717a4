/**
 * Which regular expressions of a document may run here. JavaScript engines backtrack, and callers choose the texts; the
 * author of the document wrote the pattern for another engine, and another server.
 *
 * @module
 */

const MAX_CHARACTERS = 500;
/** Each one may double the time. */
const MAX_OPTIONAL = 4;

/**
 * Whether a pattern is a regular expression of ECMA-262 that takes quadratic time at most: no back reference, look-around
 * or repetition of a group, and at most two other repetitions, one of which is the search for the start if it is not
 * anchored. The API itself checks the other patterns.
 */
export function isSafePattern(source: string): boolean {
  if (source.length > MAX_CHARACTERS || /\\[1-9k]/.test(source)) return false;
  try {
    new RegExp(source, "u");
  } catch {
    return false;
  }
  const plain = source.replace(/\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]/gu, "c").replaceAll("(?:", "(");
  if (/\)[*+{]|\(\?/.test(plain)) return false;
  const repetitions = plain.match(/[*+]|\{\d+,\d*\}/g)?.length ?? 0;
  const optional = plain.match(/\?/g)?.length ?? 0;
  const isAnchored = plain.startsWith("^") && !plain.includes("|");
  return repetitions + (isAnchored ? 0 : 1) <= 2 && optional <= MAX_OPTIONAL;
}
