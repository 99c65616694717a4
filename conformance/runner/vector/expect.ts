/**
 * Checks the responses of a step against what it expects: one view against one pattern, or several counted
 * by a tally.
 *
 * @module
 */
import { findNearest } from "./alternatives.ts";
import { findMismatch } from "./match.ts";
import { ExpectationFailed, type Mismatch } from "../outcome.ts";
import { describePattern, describeView, formatValue, NO_VALUE } from "../report/describe.ts";
import type { Variables } from "./template.ts";
import { expectsRefusal } from "../verdict/expectation.ts";
import { isJsonObject, type JsonObject } from "./vector_file.ts";
import { resolvePointer, type View } from "./view.ts";

/**
 * Returns the view that captures read. @param expected with its templates filled
 * @throws {ExpectationFailed} that says where the responses differ
 */
export async function expectViews(
  expected: JsonObject | undefined,
  views: readonly View[],
  variables: Variables,
): Promise<View> {
  if (isJsonObject(expected?.["distinct"])) {
    const { distinct, ...rest } = expected;
    await checkDistinct(distinct as JsonObject, views, variables);
    return await expectViews(rest, views, variables);
  }
  if (expected?.["tally"] !== undefined) {
    const { tally, ...rest } = expected;
    if (Object.keys(rest).length > 0) { for (const view of views) await checkView(rest, view, variables); }
    return await checkTally(tally as readonly JsonObject[], views, variables);
  }
  for (const view of views) await checkView(expected, view, variables);
  return views[0] ?? {};
}

async function checkView(expected: JsonObject | undefined, view: View, variables: Variables): Promise<void> {
  if (view["broken"] !== undefined && !mentions(expected, "broken")) {
    throw new ExpectationFailed(describeBreak(view), { expected, view });
  }
  if (!expected) return;
  const pattern = patternFor(expected, view);
  if (!await findMismatch(pattern, view, variables)) return;
  const { mismatches, expected: nearest } = await findNearest(pattern, view, variables);
  throw new ExpectationFailed(describeMismatch(mismatches[0]!, view), {
    mismatches,
    expected: nearest,
    view,
  });
}

/** Where a value is missing, or a list has another length, the reason shows the response. */
function describeMismatch({ path, expected, actual }: Mismatch, view: View): string {
  if (path === "") return `response: expected ${expected}, got ${describeView(view)}`;
  const isShown = actual === NO_VALUE && path !== "status" || path.endsWith(".length");
  const response = isShown ? ` (response: ${describeView(view)})` : "";
  return `${path}: expected ${expected}, got ${actual}${response}`;
}

function describeBreak(view: View): string {
  const why = view["why"];
  return `the exchange failed (${view["broken"]})${why ? `: ${why}` : ""}`;
}

async function checkTally(
  rows: readonly JsonObject[],
  views: readonly View[],
  variables: Variables,
): Promise<View> {
  const counts = rows.map(() => 0);
  let first: View | undefined;
  for (const view of views) {
    let at = -1;
    for (const [n, { count: _, ...pattern }] of rows.entries()) {
      if (view["broken"] !== undefined && !mentions(pattern, "broken")) continue;
      if (!await findMismatch(patternFor(pattern, view), view, variables)) {
        at = n;
        break;
      }
    }
    if (at < 0) {
      const message = `one of ${views.length} responses matches no row of the tally: ${summarizeView(view)}`;
      // An answer that broke off says nothing about rows.
      if (view["broken"] !== undefined) throw new ExpectationFailed(message, { view });
      const patterns = rows.map(({ count: _, ...pattern }) => patternFor(pattern, view));
      throw new ExpectationFailed(message, {
        ...await findNearest({ $oneOf: patterns }, view, variables),
        view,
      });
    }
    if (at === 0) first ??= view;
    counts[at]!++;
  }
  for (const [at, { count }] of rows.entries()) {
    if (await findMismatch(count, counts[at], variables)) {
      throw new ExpectationFailed(
        `tally row ${at + 1}: expected ${describePattern(count)} of ${views.length} responses, got ${
          counts[at]
        }`,
        // By convention the first row counts the successes.
        { isExcess: at === 0 && counts[at]! > 1 && !expectsRefusal(toPattern(rows[0])) },
      );
    }
  }
  return first ?? views[0] ?? {};
}

/** Counts the different values that the responses have at each pointer. Responses without a value are left out. */
async function checkDistinct(
  places: JsonObject,
  views: readonly View[],
  variables: Variables,
): Promise<void> {
  for (const [pointer, count] of Object.entries(places)) {
    const values = views.map((view) => resolvePointer(pointer, view)).filter((value) => value !== undefined);
    const found = new Set(values.map((value) => JSON.stringify(value))).size;
    if (await findMismatch(count, found, variables)) {
      throw new ExpectationFailed(
        `${pointer}: expected ${
          describePattern(count)
        } different values in ${views.length} responses, got ${found}`,
      );
    }
  }
}

function summarizeView(view: View): string {
  return formatValue({ status: view["status"], broken: view["broken"], json: view["json"] ?? view["body"] });
}

/** Whether a pattern, or one of its alternatives, names a member of the view. */
function mentions(pattern: unknown, member: string): boolean {
  if (Array.isArray(pattern)) return pattern.some((each) => mentions(each, member));
  if (!isJsonObject(pattern)) return false;
  if (member in pattern) return true;
  return ["$oneOf", "$all", "$not"].some((name) => mentions(pattern[name], member));
}

function patternFor(expected: JsonObject, view: View): unknown {
  return toPattern(view["broken"] === undefined ? expected : onlyBrokenAlternatives(expected));
}

/** For a failed exchange, keeps only the alternatives that name `broken`. */
function onlyBrokenAlternatives(pattern: unknown): unknown {
  if (!isJsonObject(pattern)) return pattern;
  const { $oneOf, $all } = pattern;
  return {
    ...pattern,
    ...(Array.isArray($oneOf) && mentions($oneOf, "broken") &&
      { $oneOf: $oneOf.filter((each) => mentions(each, "broken")).map(onlyBrokenAlternatives) }),
    ...(Array.isArray($all) && { $all: $all.map(onlyBrokenAlternatives) }),
  };
}

/** Converts an expectation to a pattern: `status` may be a list, header names may have any case. */
export function toPattern(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(toPattern);
  if (!isJsonObject(expected)) return expected;
  return Object.fromEntries(
    Object.entries(expected).map(([name, value]) => {
      if (name === "status" && Array.isArray(value)) return [name, { $oneOf: value }];
      if (name === "headers" && isJsonObject(value)) {
        return [
          name,
          Object.fromEntries(
            Object.entries(value).map(([field, each]) => [
              field.startsWith("$") ? field : field.toLowerCase(),
              each,
            ]),
          ),
        ];
      }
      return [name, name.startsWith("$") ? toPattern(value) : value];
    }),
  );
}
