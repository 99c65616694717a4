/**
 * The keywords for each property of an object, in one loop over the value: `properties`, `patternProperties`,
 * `additionalProperties`, `unevaluatedProperties`; and `required`, which the same loop checks
 * (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.2).
 *
 * @module
 */
import { acceptAll, type KeywordContext } from "./keyword.ts";
import { checkNames, compileRequired, type Members } from "./object.ts";
import { readMembers } from "./keyword_value.ts";
import { compilePattern } from "./pattern.ts";
import type { Check, Run } from "./run.ts";
import { pointerStep, toJsonTexts } from "./message_text.ts";

interface KnownProperty {
  readonly check: Check;
  readonly isRequired: boolean;
}

/** The check of these keywords; `undefined` when the schema has none of them. */
export function compileProperties(at: string, context: KeywordContext): Check<Members> | undefined {
  const { properties, patternProperties, additionalProperties, required } = context.schema;
  const checkRequired = required === undefined ? undefined : compileRequired(required, `${at}/required`);
  if (properties === undefined && patternProperties === undefined && additionalProperties === undefined) {
    return checkRequired;
  }
  const names = new Set(checkRequired && required as readonly string[]);
  const known = new Map<string, KnownProperty>();
  for (const [name, schema] of readMembers(properties ?? {}, `${at}/properties`)) {
    const check = context.compile(schema, `${at}/properties${pointerStep(name)}`);
    known.set(name, { check, isRequired: names.has(name) });
  }
  const patterns = readMembers(patternProperties ?? {}, `${at}/patternProperties`).map(([source, schema]) => {
    const place = `${at}/patternProperties${pointerStep(source)}`;
    return { matches: compilePattern(source, place), check: context.compile(schema, place) };
  });
  const additional = additionalProperties === undefined
    ? undefined
    : compileRemaining(additionalProperties, `${at}/additionalProperties`, context, [...known.keys()]);

  return (value, run, evaluated) => {
    let fits = true;
    /** Number of required properties that are present; if these are all, the search for missing ones is skipped. */
    let present = 0;
    for (const name in value) {
      const member = value[name];
      if (member === undefined) continue;
      if (--run.steps < 0) return run.takeSteps(0);
      let isKnown = false;
      const own = known.get(name);
      if (own) {
        isKnown = true;
        if (own.isRequired) present++;
        if (!checkMember(own.check, member, name, run)) fits = false;
      }
      for (let i = 0; i < patterns.length; i++) {
        const { matches, check } = patterns[i]!;
        if (!run.takeSteps(1) || !matches(name, run)) continue;
        isKnown = true;
        if (!checkMember(check, member, name, run)) fits = false;
      }
      if (!isKnown && additional) {
        isKnown = true;
        if (!checkMember(additional, member, name, run)) fits = false;
      }
      if (!fits && !run.isReporting) return false;
      if (evaluated && isKnown) evaluated.each.push(name);
    }
    if (checkRequired && present < names.size) fits = checkRequired(value, run, evaluated) && fits;
    return fits;
  };
}

function checkMember(check: Check, member: unknown, name: string, run: Run): boolean {
  const from = run.found.length;
  return check(member, run, undefined) || run.prefixPaths(from, name);
}

/** The check of the properties that no other keyword has evaluated. */
export function unevaluatedProperties(
  keywordValue: unknown,
  at: string,
  context: KeywordContext,
): Check<Members> {
  const check = compileRemaining(keywordValue, at, context, []);
  return (value, run, evaluated) => {
    if (evaluated!.all || check === acceptAll) return true;
    const each = new Set(evaluated!.each);
    return checkNames(value, run, (name) => each.has(name) || check(value[name], run, undefined));
  };
}

/** The check of properties without a name in the schema. For `false`, the message lists the known properties. */
function compileRemaining(
  keywordValue: unknown,
  at: string,
  { compile }: KeywordContext,
  known: readonly string[],
): Check {
  if (keywordValue !== false) return compile(keywordValue, at);
  const message = "unknown property" + (known.length > 0 ? `. Known properties: ${toJsonTexts(known)}` : "");
  return (_value, run) => run.report(message);
}
