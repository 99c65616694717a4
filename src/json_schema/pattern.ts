/**
 * Regular expressions of a schema (https://json-schema.org/draft/2020-12/json-schema-core#section-6.4): those of
 * ECMA-262, with the flag `u`, found anywhere in a text.
 *
 * The author of the schema writes the pattern, a caller sends the text, and JavaScript engines backtrack. So a pattern
 * that may need more than one pass gets no long texts, and takes steps by the square of the length. This does not help
 * against a pattern such as `^(a+)+$`, which takes exponential time for thirty characters: authors must not write such
 * patterns, and `foreign_schema.ts` leaves out those of other servers.
 *
 * @module
 */
import { invalidKeyword } from "./keyword_value.ts";
import type { Run } from "./run.ts";
import { toJsonText } from "./message_text.ts";

const MAX_TEXT_CHARACTERS = 3000;
/** Steps of a quadratic match: the square of the length, shifted right by this. 3,000 characters take about 25 ms. */
const QUADRATIC_SHIFT = 4;
/** Steps of a linear match: the length, shifted right by this. */
const LINEAR_SHIFT = 3;

/** Whether a text matches. Aborts the run when the text is too long. */
export type Pattern = (text: string, run: Run) => boolean;

/** @throws {TypeError} when `source` is not a valid regular expression */
export function compilePattern(source: unknown, at: string): Pattern {
  let expression: RegExp;
  try {
    if (typeof source !== "string") throw undefined;
    expression = new RegExp(source, "u");
    // Some engines refuse a too large pattern only when it runs.
    expression.test("");
  } catch (cause) {
    throw invalidKeyword(at, "a regular expression", source, cause);
  }
  if (isLinear(source)) {
    return (text, run) => run.takeSteps(text.length >> LINEAR_SHIFT) && expression.test(text);
  }
  return (text, run) => {
    if (text.length > MAX_TEXT_CHARACTERS) {
      return run.abort(
        `must have at most ${MAX_TEXT_CHARACTERS} characters to be matched against ${
          toJsonText(source)
        }, but has ${text.length}`,
      );
    }
    return run.takeSteps(text.length ** 2 >> QUADRATIC_SHIFT) && expression.test(text);
  };
}

/** Whether nothing is repeated, or only one character in a pattern that is anchored at the start. */
function isLinear(source: string): boolean {
  const plain = source.replace(/\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]/gu, "c");
  return !/[*+{]/.test(plain) || /^\^[^()|*+{?]*(?:[*+]\??)?[^()|*+{?]*$/.test(plain);
}
