/**
 * Which regular expressions of others may run here. JavaScript engines backtrack, and the author of an OpenAPI document or
 * of another server wrote the pattern for another engine, or with a bad purpose.
 *
 * @module
 */

const MAX_CHARACTERS = 500;
/** Each one doubles the number of ways in which a text may match, and so the time. */
const MAX_OPTIONAL = 4;
/** So many counted characters (`a{16}`) take the time of the ways above. More count as a repetition. */
const MAX_COUNTED = 16;
/** Characters of a pattern that some engines match in the time of one way. */
const CHARACTERS_PER_WAY = 32;

/**
 * Whether a pattern is a regular expression of ECMA-262 that takes quadratic time at most: no back reference, look-around
 * or repetition of a group, and at most two other repetitions, one of which is the search for the start if it is not
 * anchored, and few alternatives, optional parts and counts. The API itself checks the other patterns.
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
  const { ways, isAnchored } = countWays(plain);
  if (ways > 2 ** MAX_OPTIONAL) return false;
  const counted = [...plain.matchAll(/\{(\d+)\}/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  const isCounted = counted > MAX_COUNTED;
  const repetitions = (plain.match(/[*+]|\{\d+,\d*\}/g)?.length ?? 0) + (isCounted ? 1 : 0) +
    (isAnchored ? 0 : 1);
  // Whatever does not begin at a repetition is matched once.
  if (repetitions === 0) return true;
  const time = ways * (1 + (isCounted ? 1 : counted) + Math.floor(plain.length / CHARACTERS_PER_WAY));
  return repetitions <= 2 && time <= 2 ** MAX_OPTIONAL;
}

/**
 * The upper limit of the ways in which a pattern may match at one place, and whether it is anchored at the start. Each
 * optional part has two ways, a group as many as it has alternatives; those outside of groups are tried one by one.
 */
function countWays(plain: string): { readonly ways: number; readonly isAnchored: boolean } {
  const alternatives = [1];
  let ways = 1;
  for (const character of plain) {
    if (character === "(") alternatives.push(1);
    else if (character === "|") alternatives[alternatives.length - 1]!++;
    else if (character === ")") ways *= alternatives.pop()!;
    else if (character === "?") ways *= 2;
  }
  return { ways, isAnchored: plain.startsWith("^") && alternatives[0] === 1 };
}
