/**
 * Checks that vectors say exactly what they saw (`conformance/FORMAT.md` section 7): an assertion about the name of an
 * error, a header or a media type cites a row about it; a step that expects a refusal cites the rule that a server breaks
 * that accepts; covered rows bind a server; the steps can observe the effect that a flag claims.
 *
 * @module
 */
import { toPattern } from "../conformance/runner/vector/expect.ts";
import type { LoadedVector } from "../conformance/runner/vector/load.ts";
import { isJsonObject, type Step } from "../conformance/runner/vector/vector_file.ts";
import { governs } from "../conformance/runner/verdict/about.ts";
import {
  expectsRefusal,
  isProhibition,
  namesProhibition,
} from "../conformance/runner/verdict/expectation.ts";

/** Places of assertions about form. */
const FORM = /^(headers\.[^.]+|(redirect\.(query|fragment)|json)\.error(\.code)?|messages\.error\.code)$/;
/** Documents whose rows separate the refusal from its form: other documents state both in one sentence. */
const SEPARATE = /^(rfc|fapi|jsonrpc)/;

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
        const { path, pattern } of new Set(
          vector.steps.flatMap(({ covers, expect }) =>
            covers?.length === 0 ? [] : findForm(toPattern(expect))
          ),
        )
      ) {
        const isCited = rows.some(({ about = [] }) => about.some((each) => governs(each, { path, pattern })));
        if (!isCited) {
          found.push(`${name}: asserts ${path} ${JSON.stringify(pattern)}, and covers no row about it`);
        }
      }
    }
    for (const step of vector.steps) {
      if (!expectsRefusal(toPattern(step.expect)) || step.covers?.length === 0) continue;
      const covered = step.covers ? rows.filter(({ id }) => step.covers!.includes(id)) : rows;
      if (covered.every(({ about, document }) => about !== undefined && SEPARATE.test(document))) {
        found.push(`${name}: a step expects a refusal, and covers only rows about its form`);
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

/** Whether a step can show the effect: a refusal that may not come, something that must not be there, a redirect. */
function canObserve(flag: string, { vector, file }: LoadedVector): boolean {
  const steps = [...vector.steps, ...(vector.steps.some(({ expect }) => expect) ? [] : file.before ?? [])];
  return steps.some((step) => {
    const { parallel, covers } = step;
    const expect = toPattern(step.expect);
    if (expect === undefined || covers?.length === 0) return false;
    if (flag === "interop") return !expectsRefusal(expect);
    if (flag === "exhaustion") return true;
    if (flag === "race") return parallel !== undefined;
    if (flag === "leak") return namesProhibition(expect);
    if (flag === "open-redirect") return mayRedirect(step);
    return parallel !== undefined || expectsRefusal(expect) || namesProhibition(expect);
  });
}

/** Whether a browser asks, or the step or its procedure expects something of a redirect. */
function mayRedirect({ as, call, expect, request }: Step): boolean {
  return as !== undefined || call !== undefined ||
    /"redirect"|"location"/i.test(JSON.stringify(expect)) ||
    request?.url?.includes("endpoints.authorization") === true;
}
