/**
 * Which regular expressions of others may run here. JavaScript engines backtrack, and the author of an OpenAPI document or
 * of another server wrote the pattern for another engine, or with a bad purpose. A match may take some 50 ms at most.
 *
 * @module
 */

/** Longer patterns are not parsed. */
export const MAX_PATTERN_CHARACTERS = 500;
/** Ways in which a text may match at one place: each optional part doubles them. */
const MAX_WAYS = 16;
/** Characters of a pattern, with repetitions of a fixed count written out. */
const MAX_WIDTH = 200;
/**
 * The width times the ways, by the power of the text's length in the time: constant, linear, quadratic. The text has at most
 * 3,000 characters (`pattern.ts`).
 */
const MAX_WORK = [MAX_WAYS * MAX_WIDTH, 1000, 7] as const;
/** The same for linear time, where `pattern.ts` may allow long texts: of the characters from the repetition on. */
const MAX_LONG_TEXT_WORK = 20;

/**
 * Whether a pattern is a regular expression of ECMA-262 that takes little time: no back reference, look-around or repetition
 * of a group, and at most two other repetitions, one of which is the search for the start if it is not anchored; the more of
 * them, the fewer characters, alternatives and optional parts. The API itself checks the other patterns.
 */
export function isSafePattern(source: string): boolean {
  if (source.length > MAX_PATTERN_CHARACTERS || /\\[1-9k]/.test(source)) return false;
  const plain = source.replace(/\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]/gu, "c").replaceAll("(?:", "(");
  if (/\)[*+{]|\(\?/.test(plain)) return false;
  const { ways, isAnchored } = countWays(plain);
  const width = (plain.match(/\d+(?=[,\d]*\})/g) ?? []).reduce(
    (sum, count) => sum + Number(count),
    // To find a character in a property takes twice as long.
    plain.length + (source.match(/\\p/gi)?.length ?? 0),
  );
  // Whatever does not begin at a repetition is matched once.
  const power = (plain.match(/[*+]|\{\d+,\d*\}/g)?.length ?? 0) + (isAnchored ? 0 : 1);
  if (ways > MAX_WAYS || width > MAX_WIDTH || width * ways > (MAX_WORK[power] ?? 0)) return false;
  const repeated = plain.length - Math.max(0, plain.search(/[*+]/));
  if (power === 1 && !plain.includes("{") && repeated * ways > MAX_LONG_TEXT_WORK) return false;
  return isRegularExpression(source);
}

/** Whether a text is a regular expression of ECMA-262 with the flag `u`. */
export function isRegularExpression(source: string): boolean {
  try {
    new RegExp(source, "u");
    return true;
  } catch {
    return false;
  }
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
