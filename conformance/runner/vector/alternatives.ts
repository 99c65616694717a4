/**
 * Chooses, of the alternatives of an expectation, those with which a response that matches none is compared
 * (`FORMAT.md` section 7).
 *
 * @module
 */
import { findMismatch } from "./match.ts";
import type { Mismatch } from "../outcome.ts";
import type { Variables } from "./template.ts";
import { isJsonObject, type JsonObject } from "./vector_file.ts";
import { expectsRefusal } from "../verdict/expectation.ts";
import { isViolation } from "../verdict/failure_case.ts";
import { isRefusal } from "../verdict/response.ts";

/** An expectation without alternatives inside, or several in a `$oneOf`, and where a response differs from it. */
export interface Nearest {
  readonly expected: unknown;
  readonly mismatches: readonly Mismatch[];
}

/** A pattern with more combinations of alternatives is compared as it is. */
const MAX_ALTERNATIVES = 64;

/**
 * Of the alternatives, those that expect a refusal if the response is one, and the others otherwise; of these, those with
 * the fewest values that must be absent, then those that differ in the fewest places. All alternatives if none is of the
 * kind of the response.
 */
export async function findNearest(
  pattern: unknown,
  view: JsonObject,
  variables: Variables,
): Promise<Nearest> {
  const alternatives = expandAlternatives(pattern) ?? [pattern];
  const isRefused = isRefusal(view);
  const ofKind = alternatives.filter((each) => expectsRefusal(each) === isRefused);
  const compared = await Promise.all((ofKind.length > 0 ? ofKind : alternatives).map(async (expected) => {
    const mismatches = await findMismatches(expected, view, variables);
    return { expected, mismatches, violations: mismatches.filter(isViolation).length };
  }));
  const nearest = compared.filter(({ mismatches, violations }) =>
    compared.every((other) =>
      violations < other.violations ||
      violations === other.violations && mismatches.length <= other.mismatches.length
    )
  );
  return {
    expected: nearest.length === 1
      ? nearest[0]!.expected
      : { $oneOf: nearest.map(({ expected }) => expected) },
    mismatches: nearest.flatMap(({ mismatches }) => mismatches),
  };
}

/**
 * The patterns that a pattern with alternatives inside stands for, one for each combination: `{ a: { $oneOf: [[1], [2]] } }`
 * is `{ a: [1] }` or `{ a: [2] }`. Alternatives of values stay together. `undefined` if there are too many.
 */
function expandAlternatives(pattern: unknown): unknown[] | undefined {
  if (Array.isArray(pattern)) return combine(pattern.map(expandAlternatives));
  if (!isJsonObject(pattern)) return [pattern];
  const names = Object.keys(pattern);
  const { $oneOf, $all } = pattern;
  if (names.length === 1 && Array.isArray($oneOf) && $oneOf.some(isStructured)) {
    const each = $oneOf.map(expandAlternatives);
    const all = each.includes(undefined) ? undefined : each.flat();
    return all && all.length <= MAX_ALTERNATIVES ? all : undefined;
  }
  if (names.length === 1 && Array.isArray($all)) {
    return combine($all.map(expandAlternatives))?.map((parts) => ({ $all: parts }));
  }
  if (names.some((name) => name.startsWith("$"))) return [pattern];
  return combine(names.map((name) => expandAlternatives(pattern[name])))?.map((members) =>
    Object.fromEntries(names.map((name, at) => [name, members[at]]))
  );
}

/** Every way to take one of each. */
function combine(choices: readonly (readonly unknown[] | undefined)[]): unknown[][] | undefined {
  let all: unknown[][] = [[]];
  for (const choice of choices) {
    if (choice === undefined || all.length * choice.length > MAX_ALTERNATIVES) return undefined;
    all = all.flatMap((before) => choice.map((each) => [...before, each]));
  }
  return all;
}

/** Whether a pattern has members or items: alternatives of such are about several places. */
function isStructured(pattern: unknown): boolean {
  if (Array.isArray(pattern)) return true;
  return isJsonObject(pattern) &&
    Object.entries(pattern).some(([name, operand]) =>
      !name.startsWith("$") ||
      ["$oneOf", "$all"].includes(name) && Array.isArray(operand) && operand.some(isStructured) ||
      ["$contains", "$every"].includes(name) && isStructured(operand)
    );
}

/** Every place where a value does not match a pattern; a matcher other than `$all` is one, and violations inside of `$contains`. @throws {KitError} */
async function findMismatches(
  pattern: unknown,
  value: unknown,
  variables: Variables,
  path = "",
): Promise<Mismatch[]> {
  const all: Mismatch[] = [];
  if (Array.isArray(pattern) && Array.isArray(value) && pattern.length === value.length) {
    for (const [at, wanted] of pattern.entries()) {
      all.push(...await findMismatches(wanted, value[at], variables, `${path}.${at}`));
    }
    return all;
  }
  if (
    isJsonObject(pattern) && isJsonObject(value) && !Object.keys(pattern).some((name) => name.startsWith("$"))
  ) {
    for (const [name, wanted] of Object.entries(pattern)) {
      const member = Object.hasOwn(value, name) ? value[name] : undefined;
      all.push(...await findMismatches(wanted, member, variables, path === "" ? name : `${path}.${name}`));
    }
    return all;
  }
  if (isJsonObject(pattern) && Array.isArray(pattern["$all"]) && Object.keys(pattern).length === 1) {
    for (const part of pattern["$all"]) all.push(...await findMismatches(part, value, variables, path));
    return all;
  }
  const one = await findMismatch(pattern, value, variables, path);
  if (!one) return all;
  return [one, ...await findViolationsInside(pattern, value, variables, path)];
}

/**
 * The prohibited values in a list that has no item as `$contains` asks for: those in its nearest items, which differ in
 * the fewest places.
 */
async function findViolationsInside(
  pattern: unknown,
  value: unknown,
  variables: Variables,
  path: string,
): Promise<Mismatch[]> {
  if (!isJsonObject(pattern) || !Array.isArray(value)) return [];
  const { $contains: wanted } = pattern;
  if (Object.keys(pattern).length > 1 || !isJsonObject(wanted)) return [];
  const compared = await Promise.all(
    value.map((item, at) => findMismatches(wanted, item, variables, `${path}.${at}`)),
  );
  const fewest = Math.min(...compared.map(({ length }) => length));
  return compared.filter(({ length }) => length === fewest).flat().filter(isViolation);
}
