/**
 * Keywords for objects (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.2 and
 * https://json-schema.org/draft/2020-12/json-schema-validation#section-6.5).
 *
 * A member is an own, enumerable property that is not `undefined`: what `JSON.parse` makes, `__proto__` included, and
 * what `JSON.stringify` writes.
 *
 * @module
 */
import { together } from "./any.ts";
import { elsewhere, type Keywords } from "./keyword.ts";
import { membersOf, namesOf } from "./operand.ts";
import type { Check, Run } from "./run.ts";
import { atLeast, atMost } from "./size.ts";
import { asWritten, pointerStep } from "./words.ts";

export type Members = Readonly<Record<string, unknown>>;

export const objectKeywords: Keywords<Members> = {
  // These four share one walk over the value: members.ts.
  properties: elsewhere,
  patternProperties: elsewhere,
  additionalProperties: elsewhere,
  required: elsewhere,

  minProperties: atLeast("property", countMembers),
  maxProperties: atMost("property", countMembers),
  propertyNames(operand, at, { compile }) {
    const check = compile(operand, at);
    return (value, run) => everyName(value, run, (name) => check(name, run, undefined), "the property name ");
  },

  dependentRequired: (operand, at) =>
    whenPresent(
      membersOf(operand, at).map(([name, needed]) => [name, requires(needed, at + pointerStep(name), name)]),
    ),
  dependentSchemas: (operand, at, { compile }) =>
    whenPresent(
      membersOf(operand, at).map(([name, schema]) => [name, compile(schema, at + pointerStep(name))]),
    ),
  // Draft-07 section 6.5.7, and kept by 2020-12 for schemas that have it still.
  dependencies: (operand, at, { compile }) =>
    whenPresent(
      membersOf(operand, at).map(([name, needed]) => [
        name,
        (Array.isArray(needed) ? requires : compile)(needed, at + pointerStep(name), name),
      ]),
    ),
};

function countMembers(value: Members, run: Run): number {
  let size = 0;
  for (const name in value) if (value[name] !== undefined) size++;
  run.spend(size);
  return size;
}

/** Whether the names of all members pass; `before` comes before what is wrong with one. */
export function everyName(
  value: Members,
  run: Run,
  passes: (name: string) => boolean,
  before?: string,
): boolean {
  let fits = true;
  for (const name in value) {
    const from = run.found.length;
    if (value[name] === undefined || passes(name)) continue;
    fits = run.below(from, name, before);
    if (!run.loud) break;
  }
  return fits;
}

function hasMember(value: Members, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** Each check if the member of that name is present. */
function whenPresent(checks: readonly (readonly [string, Check<Members>])[]): Check<Members> {
  const each = checks.map(([name, check]): Check<Members> => (value, run, seen) =>
    !hasMember(value, name) || check(value, run, seen)
  );
  return together(each as Check[]);
}

/** That the members are present; because of another member, if one is named. */
export function requires(operand: unknown, at: string, cause?: string): Check<Members> {
  const because = cause === undefined ? "" : `, which ${asWritten(cause)} requires`;
  const required = namesOf(operand, at);
  return (value, run) => {
    let fits = true;
    for (const name of required) {
      if (hasMember(value, name)) continue;
      fits = run.refuse(`missing required property ${asWritten(name)}${because}`);
      if (!run.loud) break;
    }
    return fits;
  };
}
