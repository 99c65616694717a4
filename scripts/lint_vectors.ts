/**
 * Checks that vectors say exactly what they saw (`conformance/FORMAT.md` section 7): an assertion about the name of an
 * error, a header or a media type cites a row about it; covered rows bind a server; the steps can observe the effect that
 * a flag claims.
 *
 * @module
 */
import { toPattern } from "../conformance/runner/vector/expect.ts";
import type { LoadedVector } from "../conformance/runner/vector/load.ts";
import { isJsonObject } from "../conformance/runner/vector/vector_file.ts";
import { expectsRefusal, governs } from "../conformance/runner/vector/verdict.ts";

/** Places of assertions about form. */
const FORM = /^(headers\.[^.]+|(redirect\.(query|fragment)|json|messages)\.error(\.code)?)$/;
/** Matchers that prohibit a value: such an assertion tests the rule, not the form. */
const PROHIBITIONS = ["$absent", "$not", "$differsFrom"];

/** Finds problems of vectors, one line each. */
export function lintVectors(vectors: readonly LoadedVector[]): string[] {
  return vectors.filter(({ file }) => !file.suite.startsWith("self/")).flatMap((loaded) => {
    const { name, vector, rows, strength } = loaded;
    const found: string[] = [];
    for (const { id, binds } of rows) {
      if (binds && !binds.includes("server")) {
        found.push(`${name}: covers ${id}, which does not bind a server`);
      }
    }
    if (strength === "MUST") {
      for (
        const { path, pattern } of new Set(vector.steps.flatMap((step) => findForm(toPattern(step.expect))))
      ) {
        const isCited = rows.some(({ about = [] }) => about.some((each) => governs(each, { path, pattern })));
        if (!isCited) {
          found.push(`${name}: asserts ${path} ${JSON.stringify(pattern)}, and covers no row about it`);
        }
      }
    }
    for (const flag of vector.flags ?? []) {
      if (!canObserve(flag, loaded)) {
        found.push(`${name}: has the flag "${flag}", but no step observes its effect`);
      }
    }
    return found;
  });
}

interface Assertion {
  readonly path: string;
  readonly pattern: unknown;
}

/** The assertions about form in a pattern, alternatives included. */
function findForm(pattern: unknown, path = ""): Assertion[] {
  if (Array.isArray(pattern)) return pattern.flatMap((each) => findForm(each, path));
  if (!isJsonObject(pattern) || isProhibition(pattern)) {
    return isJsonObject(pattern) || pattern === undefined || !FORM.test(path) ? [] : [{ path, pattern }];
  }
  const names = Object.keys(pattern);
  if (FORM.test(path) && names.every((name) => name.startsWith("$"))) return [{ path, pattern }];
  return names.flatMap((name) =>
    findForm(pattern[name], name.startsWith("$") ? path : path === "" ? name : `${path}.${name}`)
  );
}

/** Whether a pattern, or each of its alternatives, says what must not be. */
function isProhibition(pattern: unknown): boolean {
  if (!isJsonObject(pattern)) return false;
  return PROHIBITIONS.some((name) => name in pattern) ||
    ["$oneOf", "$all"].some((name) => {
      const parts = pattern[name];
      return Array.isArray(parts) && parts.every(isProhibition);
    });
}

/** Whether a step can show the effect: a refusal that may not come, or something that must not be there. */
function canObserve(flag: string, { vector, file }: LoadedVector): boolean {
  const steps = [...vector.steps, ...(vector.steps.some(({ expect }) => expect) ? [] : file.before ?? [])];
  return steps.some(({ expect, parallel }) => {
    if (expect === undefined) return false;
    if (flag === "interop") return !expectsRefusal(toPattern(expect));
    if (flag === "exhaustion") return true;
    return parallel !== undefined || expectsRefusal(toPattern(expect)) || hasProhibition(expect);
  });
}

function hasProhibition(pattern: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some(hasProhibition);
  if (!isJsonObject(pattern)) return false;
  return [...PROHIBITIONS, "$sameAs", "$unique", "tally", "distinct"].some((name) => name in pattern) ||
    Object.values(pattern).some(hasProhibition);
}
