/**
 * Splits names and texts into the terms that a search compares: words without their endings, and pairs of characters of
 * scripts that do not separate words.
 *
 * @module
 */

/** Words that say nothing about what is sought. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a about all an and any are as at be been but by can could did do does for from had has have how i if in into is it its me my no " +
    "not of on or our please should so than that the their them then there these they this those to us was we were " +
    "what when where which who why will with would you your").split(" "),
);

/** Han, kana and Hangul have no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** `readFile` is two words, and so is `HTTPServer`. */
const CASE_CHANGE = /(\p{Ll}|\p{N})(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;

/** Characters of one text that are searched; more cost time and say little. */
const MAX_TEXT_CHARACTERS = 10_000;

/** The terms of a text, in order, with repetitions. */
export function toTerms(text: string): string[] {
  const terms: string[] = [];
  const spaced = text.slice(0, MAX_TEXT_CHARACTERS).replace(CASE_CHANGE, "$& ").toLowerCase();
  const rest = spaced.replace(UNSPACED, (run) => {
    const characters = [...run];
    if (characters.length === 1) terms.push(run);
    for (let i = 1; i < characters.length; i++) terms.push(characters[i - 1]! + characters[i]!);
    return " ";
  });
  for (const [word] of rest.matchAll(WORD)) {
    if (!STOP_WORDS.has(word)) terms.push(toStem(word));
  }
  return terms;
}

/** Forms whose endings do not lead to their word. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  ("began:begin begun:begin bought:buy built:build came:come children:child chose:choose chosen:choose done:do drawn:draw " +
    "drew:draw found:find gave:give given:give gone:go got:get held:hold hidden:hide kept:keep knew:know " +
    "known:know laid:lay left:leave lost:lose made:make men:man met:meet paid:pay people:person persons:person ran:run " +
    "said:say sat:sit saw:see seen:see sent:send shown:show shut:shut sold:sell spoke:speak spoken:speak " +
    "spent:spend stood:stand taken:take taught:teach thought:think threw:throw thrown:throw took:take went:go " +
    "women:woman won:win written:write wrote:write").split(" ").map((each) =>
      each.split(":") as [string, string]
    ),
);

/** Removes the endings of English that do not change what a word is about: files, closing, created, reviewer, navigation. */
export function toStem(given: string): string {
  const word = IRREGULAR.get(given) ?? given.replace(/(?<=[a-z]{3})our(?=s?$)/, "or");
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  let stem = word;
  if (stem.endsWith("ies") && stem.length > 4) stem = stem.slice(0, -3) + "y";
  else if (/(?:ss|sh|ch|x|z)es$/.test(stem)) stem = stem.slice(0, -2);
  else if (/[^su]s$/.test(stem) && !stem.endsWith("is")) stem = stem.slice(0, -1);
  const ending = /(?:ing|ed)$/.exec(stem)?.[0];
  const body = ending ? stem.slice(0, -ending.length) : stem;
  if (ending && body.length > 2 && /[aeiouy]/.test(body)) {
    // "running" has the consonant twice, but "calling" has it from "call".
    stem = /([bdgmnprt])\1$/.test(body) ? body.slice(0, -1) : body;
  } else if (stem.endsWith("er") && stem.length > 6) stem = stem.slice(0, -2);
  else if (/[st]ion$/.test(stem) && stem.length > 7) stem = stem.slice(0, -3);
  return stem.length > 3 && stem.endsWith("e") ? stem.slice(0, -1) : stem;
}
