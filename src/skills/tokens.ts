/**
 * How many tokens a text may cost a model, without its tokenizer: about four characters a token, and one for each
 * ideograph, kana or Hangul syllable.
 *
 * Leaves out: exact counts, which differ from model to model.
 *
 * @module
 */

/** Scripts whose characters cost about a token each. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** An estimate, rounded up. */
export function estimateTokens(text: string): number {
  let dense = 0;
  let length = 0;
  for (const [character] of text.matchAll(DENSE)) {
    dense++;
    length += character.length;
  }
  return dense + Math.ceil((text.length - length) / 4);
}
