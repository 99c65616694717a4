/**
 * Matches skills to a text by words. It is deterministic, and good enough to demonstrate how skills are found.
 *
 * @module
 */

/** A word of the name counts more than a word of the description. */
const NAME_WEIGHT = 3;
/** The whole name is an explicit request. */
const WHOLE_NAME_WEIGHT = 10;

const STOP_WORDS = new Set(
  ("a about after all also am an and any are as at be before between but by can could do does for from get give had " +
    "has have help her him his how i if in into is it its just like make me more my need no not of on one only or " +
    "other our out please show skill so some such task than that the their them then there these they this to up us " +
    "use using want was we were what when where which who will with work would you your").split(" "),
);

export interface Match {
  /** Position in the list of skills. */
  readonly index: number;
  readonly score: number;
  /** The shared words as written in the text, in its order. */
  readonly words: readonly string[];
}

/** Only the beginning of a longer text is matched, which bounds the time. */
const MAX_MATCHED_CHARACTERS = 20_000;

/** The skills that share words with the text: best first, equal scores in the order of the list. */
export function matchSkills(
  text: string,
  skills: readonly { readonly name: string; readonly description: string }[],
): Match[] {
  const matched = text.slice(0, MAX_MATCHED_CHARACTERS);
  const rootsOfText = new Map(wordsOf(matched).map((word) => [stem(word), word]));
  const lower = ` ${wordsOf(matched, "-").join(" ")} `;
  return skills.map(({ name, description }, index) => {
    const inName = new Set(wordsOf(name).map(stem));
    const inDescription = new Set(wordsOf(description).map(stem));
    const words: string[] = [];
    let score = lower.includes(` ${name.toLowerCase()} `) ? WHOLE_NAME_WEIGHT : 0;
    for (const [root, word] of rootsOfText) {
      const weight = inName.has(root) ? NAME_WEIGHT : inDescription.has(root) ? 1 : 0;
      if (weight > 0) words.push(word);
      score += weight;
    }
    return { index, score, words };
  }).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.index - b.index);
}

/** The words of a text without stop words. @param also a character that may join words */
function wordsOf(text: string, also = ""): string[] {
  const pattern = also === "" ? /[\p{L}\p{N}]+/gu : /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu;
  return (text.toLowerCase().match(pattern) ?? []).filter((word) => !STOP_WORDS.has(word));
}

/** Removes plural, -ing and -ed, so that "forms", "filling" and "filled" match "form" and "fill". */
export function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  const root = word.replace(/ies$/, "y").replace(/(?:sses|shes|ches|xes|zes)$/, (end) => end.slice(0, -2))
    .replace(/(?<![su])s$/, "").replace(/(?:ing|ed)$/, (end, at: number) => at >= 3 ? "" : end);
  // So that "writing" matches "write", and "planned" matches "plan".
  return root.replace(/e$/, "").replace(/([bdgmnprt])\1$/, "$1");
}
