/**
 * Keywords for objects (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.2 and
 * https://json-schema.org/draft/2020-12/json-schema-validation#section-6.5).
 *
 * A property of an instance is an own, enumerable property that is not `undefined`: what `JSON.parse` makes, also
 * `__proto__`, and what `JSON.stringify` writes.
 *
 * @module
 */
import { combine } from "./any.ts";
import { compiledElsewhere, type Keywords } from "./keyword.ts";
import { readMembers, readNames } from "./keyword_value.ts";
import type { Check, Run } from "./run.ts";
import { atLeast, atMost } from "./size.ts";
import { pointerStep, toJsonText } from "./message_text.ts";

export type Members = Readonly<Record<string, unknown>>;

export const objectKeywords: Keywords<Members> = {
  // compileProperties() handles these four in one loop over the value.
  properties: compiledElsewhere,
  patternProperties: compiledElsewhere,
  additionalProperties: compiledElsewhere,
  required: compiledElsewhere,

  minProperties: atLeast("property", countMembers),
  maxProperties: atMost("property", countMembers),
  propertyNames(keywordValue, at, { compile }) {
    const check = compile(keywordValue, at);
    return (value, run) =>
      checkNames(value, run, (name) => check(name, run, undefined), "the property name ");
  },

  dependentRequired: (keywordValue, at) =>
    whenPresent(
      readMembers(keywordValue, at).map((
        [name, needed],
      ) => [name, compileRequired(needed, at + pointerStep(name), name)]),
    ),
  dependentSchemas: (keywordValue, at, { compile }) =>
    whenPresent(
      readMembers(keywordValue, at).map(([name, schema]) => [name, compile(schema, at + pointerStep(name))]),
    ),
  // Draft-07 section 6.5.7; 2020-12 keeps it for older schemas.
  dependencies: (keywordValue, at, { compile }) =>
    whenPresent(
      readMembers(keywordValue, at).map(([name, needed]) => [
        name,
        (Array.isArray(needed) ? compileRequired : compile)(needed, at + pointerStep(name), name),
      ]),
    ),
};

function countMembers(value: Members, run: Run): number {
  let size = 0;
  for (const name in value) if (value[name] !== undefined) size++;
  run.takeSteps(size);
  return size;
}

/** Whether the names of all properties pass; `before` is prepended to the messages. */
export function checkNames(
  value: Members,
  run: Run,
  passes: (name: string) => boolean,
  before?: string,
): boolean {
  let fits = true;
  for (const name in value) {
    const from = run.found.length;
    if (value[name] === undefined || passes(name)) continue;
    fits = run.prefixPaths(from, name, before);
    if (!run.isReporting) break;
  }
  return fits;
}

function hasMember(value: Members, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** Runs each check if the property of that name is present. */
function whenPresent(checks: readonly (readonly [string, Check<Members>])[]): Check<Members> {
  const each = checks.map(([name, check]): Check<Members> => (value, run, evaluated) =>
    !hasMember(value, name) || check(value, run, evaluated)
  );
  return combine(each as Check[]);
}

/** A check that the properties are present; `cause` is the property that requires them, if there is one. */
export function compileRequired(keywordValue: unknown, at: string, cause?: string): Check<Members> {
  const because = cause === undefined ? "" : `, which ${toJsonText(cause)} requires`;
  const required = readNames(keywordValue, at);
  return (value, run) => {
    let fits = true;
    for (const name of required) {
      if (hasMember(value, name)) continue;
      fits = run.report(`missing required property ${toJsonText(name)}${because}`);
      if (!run.isReporting) break;
    }
    return fits;
  };
}
