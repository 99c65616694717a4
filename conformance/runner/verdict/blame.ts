/**
 * Which rows about form a refusal with another error fails: those whose subject was seen (`FORMAT.md` section 7).
 *
 * @module
 */
import type { Mismatch } from "../outcome.ts";
import { governs, listValues, namesOne } from "./about.ts";
import { isJsonObject, type JsonObject, type Requirement } from "../vector/vector_file.ts";

/** What a response is as a whole. Rows about it come before rows about its parts. */
interface Whole {
  /** The member of the view. */
  readonly part: string;
  readonly isSeen: (view: JsonObject) => boolean;
  /** The places of rows about the whole. */
  readonly places: readonly string[];
  /** Rows about other parts do not fail with it. */
  readonly alone: boolean;
}

/** The places of a redirect itself. */
const REDIRECT: readonly string[] = ["redirect", "redirect.to"];

const WHOLES: readonly Whole[] = [
  { part: "status", isSeen: ({ status }) => Number(status) >= 500, places: ["status"], alone: true },
  {
    part: "redirect",
    isSeen: ({ redirect }) => !isJsonObject(redirect) || redirect["to"] === undefined,
    places: REDIRECT,
    alone: false,
  },
  { part: "json", isSeen: ({ json }) => json === undefined, places: ["json"], alone: false },
];

/**
 * The rows that govern a differing place and whose subject was seen: first those about the response as a whole, and of
 * rows that name alternatives for one place those for the first.
 */
export function findBlamed(
  mismatches: readonly Mismatch[],
  findGoverning: (mismatch: Mismatch) => readonly Requirement[],
  view: JsonObject,
): readonly Requirement[] {
  const differing = mismatches.map((mismatch) => ({
    mismatch,
    ...blameWhole(mismatch, findGoverning, view),
  }));
  const alone = differing.filter(({ whole, rows }) => whole?.alone && rows.length > 0);
  return keepFirst(alone.length > 0 ? alone : differing);
}

/** The rows that govern a mismatch, only those about the response as a whole if there are any. */
function blameWhole(
  mismatch: Mismatch,
  findGoverning: (mismatch: Mismatch) => readonly Requirement[],
  view: JsonObject,
): { readonly whole: Whole | undefined; readonly rows: readonly Requirement[] } {
  const part = mismatch.path.split(".", 1)[0];
  const whole = WHOLES.find((each) => each.part === part && each.isSeen(view));
  const rows = findGoverning(mismatch);
  const ofWhole = rows.filter(({ about }) => about!.some(({ at }) => whole?.places.includes(at)));
  return { whole, rows: ofWhole.length > 0 ? ofWhole : rows };
}

/** Of rows that name different values of one place, those that name the value which the expectation names first. */
function keepFirst(
  differing: readonly { readonly mismatch: Mismatch; readonly rows: readonly Requirement[] }[],
): readonly Requirement[] {
  const first = new Map<string, unknown>();
  return differing.flatMap(({ mismatch, rows }) => {
    const values = listValues(mismatch.pattern);
    const named = rows.flatMap(({ about }) =>
      about!.filter((each) => namesOne(each) && governs(each, mismatch))
    );
    named.sort((a, b) => values.indexOf(a.value) - values.indexOf(b.value));
    for (const { at, value } of named) if (!first.has(at)) first.set(at, value);
    return rows.filter(({ about }) =>
      about!.some((each) => governs(each, mismatch) && (!namesOne(each) || first.get(each.at) === each.value))
    );
  });
}

/** Whether a mismatch is that there is a redirect, or where it leads. */
export function isOfRedirect({ path, pattern }: Mismatch): boolean {
  if (path === "headers.location" || REDIRECT.includes(path)) return true;
  const prohibited = path === "" && isJsonObject(pattern) ? pattern["$not"] : undefined;
  if (!isJsonObject(prohibited)) return false;
  const places = listPlaces(prohibited);
  return places.length > 0 && places.every((place) => REDIRECT.includes(place));
}

/** The places that a pattern names, down to members of members. */
function listPlaces(pattern: JsonObject): string[] {
  return Object.entries(pattern).flatMap(([name, value]) => {
    const members = isJsonObject(value) ? Object.keys(value) : [];
    return members.length > 0 ? members.map((member) => `${name}.${member}`) : [name];
  });
}
