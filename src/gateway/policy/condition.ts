/**
 * Conditions on arguments: each is true, false or unknown. A rule that denies or asks applies also when its condition is
 * unknown, a rule that allows does not: so no spelling of an argument passes a rule that it did not state.
 *
 * @module
 */
import { findValues, type Found, parsePath } from "./argument_path.ts";
import { compilePathGlob, type Match } from "./glob.ts";
import {
  agree,
  isAmbiguousPath,
  isComparable,
  kindOfPlace,
  toLoose,
  toLoosePaths,
  toLoosePatterns,
  type Truth,
  withoutDots,
} from "./loose_text.ts";
import type { Condition, ConditionMembers, PlainValue } from "./policy_options.ts";

/** Decides about the arguments of a call. */
export type Decide = (input: unknown) => Truth;

type Test = (found: Found) => Truth;

const MEMBERS: ReadonlySet<string> = new Set(
  [
    "present",
    "equals",
    "oneOf",
    "startsWith",
    "endsWith",
    "contains",
    "glob",
    "under",
    "below",
    "atMost",
    "above",
    "atLeast",
    "not",
  ] satisfies (keyof ConditionMembers)[],
);
const MAX_PATTERN_CHARACTERS = 1024;
const MAX_NESTED = 8;

/** A mistake in a policy. `place` is such as `rules[2].when`. */
export class PolicyError extends TypeError {
  override readonly name = "TypeError";

  constructor(place: string, rule: string) {
    super(`Invalid options: "policy${place && "."}${place}" ${rule}`);
  }
}

/** @throws {PolicyError} */
export function compileWhen(when: unknown, place: string): Decide {
  if (typeof when !== "object" || when === null || Array.isArray(when) || Object.keys(when).length === 0) {
    throw new PolicyError(place, 'must be an object with paths such as "arguments.path"');
  }
  const parts = Object.entries(when).map(([text, condition]): Decide => {
    const path = parsePath(text);
    const here = `${place}[${JSON.stringify(text)}]`;
    if (!path) throw new PolicyError(here, 'must be a path such as "arguments.path"');
    const test = compileCondition(condition as Condition, here, 0);
    return (input) => {
      const { found, isMany } = findValues(input, path);
      const results = found.map(test);
      return isMany ? unanimous(results) : results[0];
    };
  });
  return (input) => all(parts, (part) => part(input));
}

/** What all results say; unknown when they differ, or when there are none. */
function unanimous(results: readonly Truth[]): Truth {
  return results.every((each) => each === results[0]) ? results[0] : undefined;
}

/** False when one is false, unknown when one is unknown, otherwise true. */
function all<Each>(list: readonly Each[], decide: (each: Each) => Truth): Truth {
  let result: Truth = true;
  for (const each of list) {
    const decided = decide(each);
    if (decided === false) return false;
    if (decided === undefined) result = undefined;
  }
  return result;
}

function compileCondition(condition: Condition, place: string, depth: number): Test {
  if (isPlain(condition)) return testEquals([condition]);
  if (typeof condition !== "object" || Array.isArray(condition) || Object.keys(condition).length === 0) {
    throw new PolicyError(place, "must be a value or an object with comparisons");
  }
  if (depth > MAX_NESTED) throw new PolicyError(place, `must not be nested deeper than ${MAX_NESTED}`);
  const tests = Object.entries(condition).map(([name, value]) => compileMember(name, value, place, depth));
  return (found) => all(tests, (test) => test(found));
}

function compileMember(name: string, value: unknown, place: string, depth: number): Test {
  if (!MEMBERS.has(name)) {
    throw new PolicyError(
      place,
      `has the unknown comparison "${name}"; known are ${[...MEMBERS].join(", ")}`,
    );
  }
  const here = `${place}.${name}`;
  switch (name as keyof ConditionMembers) {
    case "present": {
      if (typeof value !== "boolean") throw new PolicyError(here, "must be true or false");
      return (found) => {
        if (found === "missing") return !value;
        return found === "ambiguous" || found.value === null ? undefined : value;
      };
    }
    case "equals":
      if (!isPlain(value)) throw new PolicyError(here, "must be a text, a number, true, false or null");
      return testEquals([value]);
    case "oneOf":
      if (!Array.isArray(value) || value.length === 0 || !value.every(isPlain)) {
        throw new PolicyError(here, "must be a list of texts, numbers, true, false or null");
      }
      return testEquals(value);
    case "startsWith": {
      const pattern = readPattern(value, here);
      if (/^[a-z][a-z0-9+.-]*:\/\/[^/]*$/i.test(pattern)) {
        throw new PolicyError(
          here,
          `must have a "/" after the host, since other hosts begin with ${pattern} too`,
        );
      }
      return testText(pattern, (text) => (given) => given.startsWith(text), { isPlace: true });
    }
    case "endsWith":
      return testText(readPattern(value, here), (text) => (given) => given.endsWith(text));
    case "contains":
      return testText(readPattern(value, here), (text) => (given) => given.includes(text));
    case "glob":
      return testText(readPattern(value, here), compilePathGlob, { isPlace: true, isPath: true });
    case "under": {
      const pattern = readPattern(value, here);
      if (!kindOfPlace(pattern)) throw new PolicyError(here, "must be an absolute path or URL");
      const folder = pattern.replace(/[/\\]+$/, "");
      // The same place of a server, whatever is in the query and the fragment.
      const isUrl = kindOfPlace(pattern) === "url";
      const isUnder = (text: string) => (given: string) => {
        if (given.startsWith(text)) return true;
        const place = text.slice(0, -1);
        const next = given[place.length];
        return given.startsWith(place) && (next === undefined || isUrl && (next === "?" || next === "#"));
      };
      return testText(`${folder}/`, isUnder, { isPlace: true });
    }
    case "below":
      return testNumber(value, here, (given, limit) => given < limit);
    case "atMost":
      return testNumber(value, here, (given, limit) => given <= limit);
    case "above":
      return testNumber(value, here, (given, limit) => given > limit);
    case "atLeast":
      return testNumber(value, here, (given, limit) => given >= limit);
    case "not": {
      const test = compileCondition(value as Condition, here, depth + 1);
      return (found) => {
        const result = test(found);
        return result === undefined ? undefined : !result;
      };
    }
  }
}

function isPlain(value: unknown): value is PlainValue {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

function readPattern(value: unknown, place: string): string {
  if (typeof value === "string" && value !== "" && value.length <= MAX_PATTERN_CHARACTERS) return value;
  throw new PolicyError(place, `must be a text of 1 to ${MAX_PATTERN_CHARACTERS} characters`);
}

/** A value of another type is unknown: `"true"` may be understood as `true`. */
function testEquals(values: readonly PlainValue[]): Test {
  const types = new Set(values.map(typeOf));
  const texts = values.filter((value) => typeof value === "string").map((value) =>
    testText(value, (text) => (given) => given === text, { isPlace: true })
  );
  return (found) => {
    if (typeof found === "string" || !types.has(typeOf(found.value))) return undefined;
    if (typeof found.value !== "string") return values.includes(found.value as PlainValue);
    let result: Truth = false;
    for (const test of texts) {
      const decided = test(found);
      if (decided) return true;
      if (decided === undefined) result = undefined;
    }
    return result;
  };
}

function typeOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

interface TextOptions {
  /** Whether the pattern is for the whole text: a text that names another kind of place is unknown to it. */
  readonly isPlace?: boolean;
  /** @default whether the pattern has a slash */
  readonly isPath?: boolean;
}

/**
 * Compares texts. A pattern with a slash is one of a path or URL: then the text is also read as programs resolve it, and a
 * relative path is unknown to an absolute pattern.
 */
function testText(
  pattern: string,
  compile: (pattern: string) => Match,
  { isPlace = false, isPath = /[/\\]/.test(pattern) }: TextOptions = {},
): Test {
  const strict = compile(pattern);
  const loose = (isPath ? toLoosePatterns(pattern, isPlace) : [toLoose(pattern) || pattern]).map(compile);
  const kind = isPlace && isPath ? kindOfPlace(pattern) : undefined;
  return (found) => {
    if (typeof found === "string" || typeof found.value !== "string") return undefined;
    const { value } = found;
    if (!isComparable(value) || kind && kindOfPlace(value) !== kind) return undefined;
    if (isPath && (isAmbiguousPath(value) || strict(value) !== strict(withoutDots(value)))) return undefined;
    const readings = isPath ? toLoosePaths(value) : [toLoose(value)];
    return agree(strict(value), readings.map((each) => loose.some((match) => match(each))));
  };
}

/** Infinity, from 1e999, becomes null on its way. */
function testNumber(value: unknown, place: string, compare: (given: number, limit: number) => boolean): Test {
  if (!Number.isFinite(value)) throw new PolicyError(place, "must be a number");
  const limit = value as number;
  return (found) => {
    if (typeof found === "string" || !Number.isFinite(found.value)) return undefined;
    return compare(found.value as number, limit);
  };
}
