/**
 * Regular expressions of a schema (https://json-schema.org/draft/2020-12/json-schema-core#section-6.4): those of
 * ECMA-262, with the flag `u`, found anywhere in a text.
 *
 * The operator writes a pattern, a stranger the text, and the engines of JavaScript go back and forth. So what could
 * take more than one pass over the text is given no long texts, and pays by the square of the length. This does not
 * help against a pattern like `^(a+)+$`, which takes exponential time with thirty characters: the operator must not
 * write such a one.
 *
 * @module
 */
import { operandError } from "./operand.ts";
import type { Run } from "./run.ts";
import { asWritten } from "./words.ts";

const LONGEST_TEXT = 3000;
/** Three thousand characters take 1,000,000 steps and 25 ms: the square of the length, shifted by this. */
const SQUARE = 4;
/** One pass takes a step for so many characters: the length, shifted by this. */
const ONE_PASS = 3;

/** Says whether a text matches; when it is too long to say, stops the run. */
export type Pattern = (text: string, run: Run) => boolean;

/** @throws {TypeError} when it is no regular expression */
export function compilePattern(source: unknown, at: string): Pattern {
  let expression: RegExp;
  try {
    if (typeof source !== "string") throw undefined;
    expression = new RegExp(source, "u");
    // Some engines see only now that it is too large.
    expression.test("");
  } catch (cause) {
    throw operandError(at, "a regular expression", source, cause);
  }
  if (takesOnePass(source)) return (text, run) => run.spend(text.length >> ONE_PASS) && expression.test(text);
  return (text, run) => {
    if (text.length > LONGEST_TEXT) {
      return run.stop(
        `must have at most ${LONGEST_TEXT} characters to be matched against ${
          asWritten(source)
        }, but has ${text.length}`,
      );
    }
    return run.spend(text.length ** 2 >> SQUARE) && expression.test(text);
  };
}

/** Nothing repeated, or one single character repeated in an expression that can only match at the start. */
function takesOnePass(source: string): boolean {
  const plain = source.replace(/\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]/gu, "c");
  return !/[*+{]/.test(plain) || /^\^[^()|*+{?]*(?:[*+]\??)?[^()|*+{?]*$/.test(plain);
}
