/**
 * Keywords for values of every type: `enum`, `const`, and those that apply subschemas to the same value
 * (https://json-schema.org/draft/2020-12/json-schema-core#section-10.2 and
 * https://json-schema.org/draft/2020-12/json-schema-validation#section-6.1).
 *
 * @module
 */
import { ValueSet } from "./equal.ts";
import { acceptAll, compiledElsewhere, type KeywordContext, type Keywords } from "./keyword.ts";
import { invalidKeyword, readList } from "./keyword_value.ts";
import { type Check, Run } from "./run.ts";
import { pluralize, toJsonText, toJsonTexts } from "./message_text.ts";

const MAX_EXPLAINED_SCHEMAS = 5;

export const anyKeywords: Keywords = {
  // compile.ts compiles these.
  $ref: compiledElsewhere,
  $dynamicRef: compiledElsewhere,
  type: compiledElsewhere,
  unevaluatedItems: compiledElsewhere,
  unevaluatedProperties: compiledElsewhere,

  const: (keywordValue) => equalsOneOf([keywordValue], `must be ${toJsonText(keywordValue)}`),
  enum(keywordValue, at) {
    if (!Array.isArray(keywordValue)) throw invalidKeyword(at, "an array", keywordValue);
    return equalsOneOf(keywordValue, `must be one of ${toJsonTexts(keywordValue)}`);
  },

  allOf: (keywordValue, at, context) => combine(compileSchemas(keywordValue, at, context)),
  anyOf(keywordValue, at, context) {
    const checks = compileSchemas(keywordValue, at, context);
    return (value, run, evaluated) => {
      let fits = false;
      for (const check of checks) {
        if (run.matches(check, value, evaluated)) {
          fits = true;
          // Further matches matter only for what they evaluate.
          if (!evaluated) break;
        }
      }
      return fits || reportNoMatch(checks, value, run);
    };
  },
  oneOf(keywordValue, at, context) {
    const checks = compileSchemas(keywordValue, at, context);
    return (value, run, evaluated) => {
      let first = -1;
      for (let i = 0; i < checks.length; i++) {
        if (!run.matches(checks[i]!, value, evaluated)) continue;
        if (first >= 0) {
          return run.report(
            `must match exactly one of the schemas, but matches (${first + 1}) and (${i + 1})`,
          );
        }
        first = i;
      }
      return first >= 0 || reportNoMatch(checks, value, run);
    };
  },
  not(keywordValue, at, { compile }) {
    const check = compile(keywordValue, at);
    const message = `must not match ${toJsonText(keywordValue)}`;
    return (value, run) => !run.matches(check, value, undefined) || run.reportMismatch(message, value);
  },
  if(keywordValue, at, { schema, compile }) {
    const path = at.slice(0, -"if".length);
    const condition = compile(keywordValue, at);
    const then = schema.then === undefined ? acceptAll : compile(schema.then, `${path}then`);
    const otherwise = schema.else === undefined ? acceptAll : compile(schema.else, `${path}else`);
    return (value, run, evaluated) =>
      (run.matches(condition, value, evaluated) ? then : otherwise)(value, run, evaluated);
  },
  then: (keywordValue, at, { compile }) => void compile(keywordValue, at),
  else: (keywordValue, at, { compile }) => void compile(keywordValue, at),
};

function equalsOneOf(values: readonly unknown[], message: string): Check {
  const set = new ValueSet();
  for (const value of values) set.add(value, new Run());
  return (value, run) => set.has(value, run) || run.reportMismatch(message, value);
}

function compileSchemas(keywordValue: unknown, at: string, { compile }: KeywordContext): Check[] {
  return readList(keywordValue, at).map((each, i) => compile(each, `${at}/${i}`));
}

/** Reports the first problem with each schema. */
function reportNoMatch(checks: readonly Check[], value: unknown, run: Run): false {
  if (!run.isReporting) return false;
  const wrong = checks.slice(0, MAX_EXPLAINED_SCHEMAS).map((check, i) =>
    `(${i + 1}) ${run.findFirst(check, value)}`
  );
  if (checks.length > MAX_EXPLAINED_SCHEMAS) wrong.push("…");
  return run.report(
    `must match one of ${pluralize(checks.length, "schema")}, but matches none: ${wrong.join(", ")}`,
  );
}

/** One check that runs all checks; there are fast versions for few checks. */
export function combine(checks: readonly Check[]): Check {
  switch (checks.length) {
    case 0:
      return acceptAll;
    case 1:
      return checks[0]!;
    case 2: {
      const [first, second] = checks;
      return (value, run, evaluated) =>
        first!(value, run, evaluated)
          ? second!(value, run, evaluated)
          : run.isReporting && second!(value, run, evaluated) && false;
    }
    default:
      return (value, run, evaluated) => {
        let fits = true;
        for (let i = 0; i < checks.length; i++) {
          if (checks[i]!(value, run, evaluated)) continue;
          fits = false;
          if (!run.isReporting) break;
        }
        return fits;
      };
  }
}
