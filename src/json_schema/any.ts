/**
 * Keywords for values of every kind: `enum`, `const`, and those that apply further schemas to the same value
 * (https://json-schema.org/draft/2020-12/json-schema-core#section-10.2 and
 * https://json-schema.org/draft/2020-12/json-schema-validation#section-6.1).
 *
 * @module
 */
import { ValueSet } from "./equal.ts";
import { elsewhere, type Keywords, pass, type Surroundings } from "./keyword.ts";
import { listOf, operandError } from "./operand.ts";
import { type Check, Run } from "./run.ts";
import { asWritten, listed, many } from "./words.ts";

const MOST_EXPLAINED = 5;

export const anyKeywords: Keywords = {
  // These are compiled elsewhere.
  $ref: elsewhere,
  $dynamicRef: elsewhere,
  type: elsewhere,
  unevaluatedItems: elsewhere,
  unevaluatedProperties: elsewhere,

  const: (operand) => oneOfValues([operand], `must be ${asWritten(operand)}`),
  enum(operand, at) {
    if (!Array.isArray(operand)) throw operandError(at, "an array", operand);
    return oneOfValues(operand, `must be one of ${listed(operand)}`);
  },

  allOf: (operand, at, around) => together(compileList(operand, at, around)),
  anyOf(operand, at, around) {
    const checks = compileList(operand, at, around);
    return (value, run, seen) => {
      let fits = false;
      for (const check of checks) {
        if (run.probe(check, value, seen)) {
          fits = true;
          // What else fits matters only for what it has seen.
          if (!seen) break;
        }
      }
      return fits || noneFits(checks, value, run);
    };
  },
  oneOf(operand, at, around) {
    const checks = compileList(operand, at, around);
    return (value, run, seen) => {
      let first = -1;
      for (let i = 0; i < checks.length; i++) {
        if (!run.probe(checks[i]!, value, seen)) continue;
        if (first >= 0) {
          return run.refuse(
            `must match exactly one of the schemas, but matches (${first + 1}) and (${i + 1})`,
          );
        }
        first = i;
      }
      return first >= 0 || noneFits(checks, value, run);
    };
  },
  not(operand, at, { compile }) {
    const check = compile(operand, at);
    const message = `must not match ${asWritten(operand)}`;
    return (value, run) => !run.probe(check, value, undefined) || run.refuseFor(message, value);
  },
  if(operand, at, { schema, compile }) {
    const path = at.slice(0, -"if".length);
    const condition = compile(operand, at);
    const then = schema.then === undefined ? pass : compile(schema.then, `${path}then`);
    const otherwise = schema.else === undefined ? pass : compile(schema.else, `${path}else`);
    return (value, run, seen) => (run.probe(condition, value, seen) ? then : otherwise)(value, run, seen);
  },
  then: (operand, at, { compile }) => void compile(operand, at),
  else: (operand, at, { compile }) => void compile(operand, at),
};

function oneOfValues(values: readonly unknown[], message: string): Check {
  const set = new ValueSet();
  for (const value of values) set.add(value, new Run());
  return (value, run) => set.has(value, run) || run.refuseFor(message, value);
}

function compileList(operand: unknown, at: string, { compile }: Surroundings): Check[] {
  return listOf(operand, at).map((each, i) => compile(each, `${at}/${i}`));
}

/** Notes what each alternative asks for. */
function noneFits(checks: readonly Check[], value: unknown, run: Run): false {
  if (!run.loud) return false;
  const wrong = checks.slice(0, MOST_EXPLAINED).map((check, i) => `(${i + 1}) ${run.explain(check, value)}`);
  if (checks.length > MOST_EXPLAINED) wrong.push("…");
  return run.refuse(
    `must match one of ${many(checks.length, "schema")}, but matches none: ${wrong.join(", ")}`,
  );
}

/** One check of several, as fast as there are few of them. */
export function together(checks: readonly Check[]): Check {
  switch (checks.length) {
    case 0:
      return pass;
    case 1:
      return checks[0]!;
    case 2: {
      const [first, second] = checks;
      return (value, run, seen) =>
        first!(value, run, seen) ? second!(value, run, seen) : run.loud && second!(value, run, seen) && false;
    }
    default:
      return (value, run, seen) => {
        let fits = true;
        for (let i = 0; i < checks.length; i++) {
          if (checks[i]!(value, run, seen)) continue;
          fits = false;
          if (!run.loud) break;
        }
        return fits;
      };
  }
}
