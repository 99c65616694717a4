/**
 * Whether the answers of a step are what was expected: one view against one pattern, or many counted by a tally.
 *
 * @module
 */
import { match, type Mismatch } from "./match.ts";
import { Unexpected } from "../outcome.ts";
import { sayAnswer, sayPattern, show } from "../report/say.ts";
import type { Variables } from "./template.ts";
import { isMembers, type Members } from "./vector_file.ts";
import { pointTo, type View } from "./view.ts";

/**
 * Gives the view that captures read. @param expected with its templates filled
 * @throws {Unexpected} saying where the answers differ
 */
export async function checkViews(
  expected: Members | undefined,
  views: readonly View[],
  variables: Variables,
): Promise<View> {
  if (isMembers(expected?.["distinct"])) {
    const { distinct, ...rest } = expected;
    await checkDistinct(distinct as Members, views, variables);
    return await checkViews(rest, views, variables);
  }
  if (expected?.["tally"] !== undefined) {
    const { tally, ...rest } = expected;
    if (Object.keys(rest).length > 0) { for (const view of views) await checkView(rest, view, variables); }
    return await checkTally(tally as readonly Members[], views, variables);
  }
  for (const view of views) await checkView(expected, view, variables);
  return views[0] ?? {};
}

async function checkView(expected: Members | undefined, view: View, variables: Variables): Promise<void> {
  if (view["broken"] !== undefined && !names(expected, "broken")) {
    throw new Unexpected(brokenReason(view));
  }
  if (!expected) return;
  const found = await match(patternFor(expected, view), view, variables);
  if (found) {
    throw new Unexpected(difference(found, view));
  }
}

/** What is missing shows best in what came instead. */
function difference({ path, expected, actual }: Mismatch, view: View): string {
  if (path === "") return `the answer: expected ${expected}, but it is: ${sayAnswer(view)}`;
  const came = actual === "nothing" && path !== "status" ? ` (the answer: ${sayAnswer(view)})` : "";
  return `${path}: expected ${expected}, but it is ${actual}${came}`;
}

function brokenReason(view: View): string {
  const why = view["why"];
  return why ? `the exchange broke (${view["broken"]}): ${why}` : `the exchange broke: ${view["broken"]}`;
}

async function checkTally(
  rows: readonly Members[],
  views: readonly View[],
  variables: Variables,
): Promise<View> {
  const counts = rows.map(() => 0);
  let first: View | undefined;
  for (const view of views) {
    let at = -1;
    for (const [n, { count: _, ...pattern }] of rows.entries()) {
      if (view["broken"] !== undefined && !names(pattern, "broken")) continue;
      if (!await match(patternFor(pattern, view), view, variables)) {
        at = n;
        break;
      }
    }
    if (at < 0) throw new Unexpected(`one of ${views.length} answers fits no row: ${summary(view)}`);
    if (at === 0) first ??= view;
    counts[at]!++;
  }
  for (const [at, { count }] of rows.entries()) {
    if (await match(count, counts[at], variables)) {
      throw new Unexpected(
        `of ${views.length} answers, ${counts[at]} fit row ${at + 1}, but expected ${sayPattern(count)}`,
      );
    }
  }
  return first ?? views[0] ?? {};
}

/** How many different values the answers have at each place; those that have none do not count. */
async function checkDistinct(places: Members, views: readonly View[], variables: Variables): Promise<void> {
  for (const [pointer, count] of Object.entries(places)) {
    const values = views.map((view) => pointTo(pointer, view)).filter((value) => value !== undefined);
    const found = new Set(values.map((value) => JSON.stringify(value))).size;
    if (await match(count, found, variables)) {
      throw new Unexpected(
        `of ${views.length} answers, ${found} differ in ${pointer}, but expected ${sayPattern(count)}`,
      );
    }
  }
}

function summary(view: View): string {
  return show({ status: view["status"], broken: view["broken"], json: view["json"] ?? view["body"] });
}

/** Whether a pattern says anything about a member of the view, alternatives included. */
function names(pattern: unknown, member: string): boolean {
  if (Array.isArray(pattern)) return pattern.some((each) => names(each, member));
  if (!isMembers(pattern)) return false;
  if (member in pattern) return true;
  return ["$oneOf", "$all", "$not"].some((name) => names(pattern[name], member));
}

function patternFor(expected: Members, view: View): unknown {
  return toPattern(view["broken"] === undefined ? expected : aboutBroken(expected));
}

/** Of alternatives, only those that name `broken` are about an exchange that broke. */
function aboutBroken(pattern: unknown): unknown {
  if (!isMembers(pattern)) return pattern;
  const { $oneOf, $all } = pattern;
  return {
    ...pattern,
    ...(Array.isArray($oneOf) && names($oneOf, "broken") &&
      { $oneOf: $oneOf.filter((each) => names(each, "broken")).map(aboutBroken) }),
    ...(Array.isArray($all) && { $all: $all.map(aboutBroken) }),
  };
}

/** An expectation as a pattern: `status` may be a list of any, names of fields are written in any case. */
export function toPattern(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(toPattern);
  if (!isMembers(expected)) return expected;
  return Object.fromEntries(
    Object.entries(expected).map(([name, value]) => {
      if (name === "status" && Array.isArray(value)) return [name, { $oneOf: value }];
      if (name === "headers" && isMembers(value)) {
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
