/**
 * Which regular expressions of others may run here. JavaScript engines backtrack, and the author of an OpenAPI document or
 * of another server wrote the pattern for another engine, or with a bad purpose.
 *
 * @module
 */

const MAX_CHARACTERS = 500;
/** Ways through optional parts and alternatives: each may be tried for each way to match the rest. */
const MAX_WAYS = 16;

/**
 * Whether a pattern is a regular expression of ECMA-262 that takes quadratic time at most: no back reference, look-around
 * or repetition of a group, at most two other repetitions, one of which is the search for the start if it is not
 * anchored, and few ways through optional parts and alternatives (a list of names alone may be longer). The API itself
 * checks the other patterns.
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
  const isAnchored = plain.startsWith("^") && !plain.includes("|");
  const choices = countChoices(plain);
  const isList = choices.length === 1 && repetitions === 0;
  return repetitions + (isAnchored ? 0 : 1) <= 2 &&
    (isList || choices.reduce((ways, each) => ways * each, 1) <= MAX_WAYS);
}

/** The number of alternatives of each group that has several, and 2 for each optional part. */
function countChoices(plain: string): number[] {
  const choices: number[] = [];
  const open: number[] = [];
  for (const character of plain) {
    if (character === "?") choices.push(2);
    else if (character === "(") open.push(1);
    else if (character === "|" && open.length > 0) open.push(open.pop()! + 1);
    else if (character === ")") choices.push(open.pop() ?? 1);
  }
  return choices.filter((each) => each > 1);
}
