/**
 * Which known word a misspelled one stands for, for "Did you mean …?".
 *
 * @module
 */

/** Letters of a part of a word, at least. */
const MIN_PART_LETTERS = 3;

/**
 * The known word with the fewest changed, missing, additional or swapped letters, or the only one of which it is a part;
 * `undefined` when none is near.
 */
export function findNearest(word: string, words: Iterable<string>): string | undefined {
  const known = [...words];
  // A third of the letters may be wrong: a word that differs in more is another one.
  const nearest = findSimilar(word, known, Math.max(1, Math.floor(word.length / 3)));
  if (nearest !== undefined || word.length < MIN_PART_LETTERS) return nearest;
  const containing = known.filter((each) => each.includes(word));
  return containing.length === 1 ? containing[0] : undefined;
}

/**
 * The known word that this one certainly misspells: in other case, singular or plural, or with one or two wrong letters
 * (one in a short word). `undefined` for a known word, and for one that can be a word of its own.
 */
export function findMisspelled(word: string, words: readonly string[]): string | undefined {
  if (words.includes(word)) return undefined;
  const stem = toStem(word);
  const known = new Map(words.map((each) => [toStem(each), each]));
  const nearest = findSimilar(stem, known.keys(), Math.min(2, Math.floor(stem.length / 3)));
  return nearest === undefined ? undefined : known.get(nearest);
}

/** The word in small letters, without separators and the ending of a plural. */
function toStem(word: string): string {
  return word.toLowerCase().replace(/[^a-z]/g, "").replace(/ies$/, "y").replace(/s$/, "");
}

function findSimilar(word: string, known: Iterable<string>, maxDistance: number): string | undefined {
  let nearest: string | undefined;
  let least = maxDistance + 1;
  for (const each of known) {
    if (Math.abs(each.length - word.length) >= least) continue;
    const distance = distanceOf(word, each);
    if (distance < least) [nearest, least] = [each, distance];
  }
  return nearest;
}

/** The end of an error message: a blank and the question, or nothing. */
export function suggest(word: string, known: Iterable<string>, prefix = ""): string {
  const nearest = findNearest(word, known);
  return nearest === undefined ? "" : `. Did you mean "${prefix}${nearest}"?`;
}

/** The optimal string alignment distance. */
function distanceOf(a: string, b: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = last![j - 1]! + Number(a[i - 1] !== b[j - 1]);
      row[j] = Math.min(change, last![j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j]!, before![j - 2]! + 1);
      }
    }
    [before, last] = [last, row];
  }
  return last![b.length]!;
}
