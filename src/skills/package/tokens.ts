/**
 * Estimates the tokens of a text without a tokenizer: about four characters a token, and one token for each ideograph,
 * kana, Hangul syllable and emoji. Exact counts differ from model to model.
 *
 * @module
 */

/** What a skill costs: its metadata in every request, its instructions whenever it is loaded. */
export interface SkillTokens {
  readonly metadata: number;
  readonly instructions: number;
}

/** Runs of characters that cost about a token each. */
const DENSE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]+/gu;

/** A longer text is estimated from its beginning. */
const MAX_COUNTED_CHARACTERS = 200_000;

/** An estimate, rounded up. */
export function estimateTokens(text: string): number {
  if (text.length > MAX_COUNTED_CHARACTERS) {
    const counted = text.slice(0, MAX_COUNTED_CHARACTERS);
    return Math.ceil(estimateTokens(counted) * text.length / counted.length);
  }
  let dense = 0;
  let length = 0;
  for (const [run] of text.matchAll(DENSE)) {
    for (const _ of run) dense++;
    length += run.length;
  }
  return dense + Math.ceil((text.length - length) / 4);
}

/** Estimates for metadata and instructions. */
export function estimateLevels(name: string, description: string, instructions: string): SkillTokens {
  return {
    metadata: estimateTokens(`${name}: ${description}`),
    instructions: estimateTokens(instructions),
  };
}

/** What a file may cost a model that reads it, by its size alone; 0 for binary files. */
export function estimateFileTokens(mediaType: string, size: number): number {
  return /^text\/|[/+](?:json|yaml)$/.test(mediaType) ? Math.ceil(size / 4) : 0;
}
