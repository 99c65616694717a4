/**
 * The keywords that look at each member of an object, in one walk over the value: `properties`, `patternProperties`,
 * `additionalProperties`, `unevaluatedProperties`; and `required`, which the same walk answers
 * (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.2).
 *
 * @module
 */
import { pass, type Surroundings } from "./keyword.ts";
import { everyName, type Members, requires } from "./object.ts";
import { membersOf } from "./operand.ts";
import { compilePattern } from "./pattern.ts";
import type { Check, Run } from "./run.ts";
import { listed, pointerStep } from "./words.ts";

interface Known {
  readonly check: Check;
  readonly isRequired: boolean;
}

/** The check of those of the keywords that the schema has; nothing when it has none. */
export function compileMembers(at: string, around: Surroundings): Check<Members> | undefined {
  const { properties, patternProperties, additionalProperties, required } = around.schema;
  const requireAll = required === undefined ? undefined : requires(required, `${at}/required`);
  if (properties === undefined && patternProperties === undefined && additionalProperties === undefined) {
    return requireAll;
  }
  const names = new Set(requireAll && required as readonly string[]);
  const known = new Map<string, Known>();
  for (const [name, schema] of membersOf(properties ?? {}, `${at}/properties`)) {
    const check = around.compile(schema, `${at}/properties${pointerStep(name)}`);
    known.set(name, { check, isRequired: names.has(name) });
  }
  const patterns = membersOf(patternProperties ?? {}, `${at}/patternProperties`).map(([source, schema]) => {
    const place = `${at}/patternProperties${pointerStep(source)}`;
    return { matches: compilePattern(source, place), check: around.compile(schema, place) };
  });
  const additional = additionalProperties === undefined
    ? undefined
    : compileOthers(additionalProperties, `${at}/additionalProperties`, around, [...known.keys()]);

  return (value, run, seen) => {
    let fits = true;
    /** Required and among the properties: no others need to be looked for, if these are all. */
    let present = 0;
    for (const name in value) {
      const member = value[name];
      if (member === undefined) continue;
      if (--run.steps < 0) return run.spend(0);
      let isKnown = false;
      const own = known.get(name);
      if (own) {
        isKnown = true;
        if (own.isRequired) present++;
        if (!checkMember(own.check, member, name, run)) fits = false;
      }
      for (let i = 0; i < patterns.length; i++) {
        const { matches, check } = patterns[i]!;
        if (!run.spend(1) || !matches(name, run)) continue;
        isKnown = true;
        if (!checkMember(check, member, name, run)) fits = false;
      }
      if (!isKnown && additional) {
        isKnown = true;
        if (!checkMember(additional, member, name, run)) fits = false;
      }
      if (!fits && !run.loud) return false;
      if (seen && isKnown) seen.each.push(name);
    }
    if (requireAll && present < names.size) fits = requireAll(value, run, seen) && fits;
    return fits;
  };
}

function checkMember(check: Check, member: unknown, name: string, run: Run): boolean {
  const from = run.found.length;
  return check(member, run, undefined) || run.below(from, name);
}

/** The members that no other keyword has looked at. */
export function unevaluatedProperties(operand: unknown, at: string, around: Surroundings): Check<Members> {
  const check = compileOthers(operand, at, around, []);
  return (value, run, seen) => {
    if (seen!.all || check === pass) return true;
    const each = new Set(seen!.each);
    return everyName(value, run, (name) => each.has(name) || check(value[name], run, undefined));
  };
}

/** The check of members that are not listed. One that may not be there is told what may, where that is known. */
function compileOthers(
  operand: unknown,
  at: string,
  { compile }: Surroundings,
  known: readonly string[],
): Check {
  if (operand !== false) return compile(operand, at);
  const message = "unknown property" + (known.length > 0 ? `. Known properties: ${listed(known)}` : "");
  return (_value, run) => run.refuse(message);
}
