/**
 * What a row about form is about: which places of a response, and which values there (`FORMAT.md` sections 7 and 8).
 *
 * @module
 */
import type { Mismatch } from "../outcome.ts";
import { type About, isJsonObject } from "../vector/vector_file.ts";

/** In `about`: assertions without a value, such as that an error is present. */
const ANY_VALUE = "*";
/** In `about`: assertions that there is no value. */
export const ABSENCE = "$absent";

export function isAbsence(pattern: unknown): boolean {
  return isJsonObject(pattern) && ABSENCE in pattern;
}

/** Whether a row about form governs a mismatch: at its place, below it, or above it if the pattern contains the place. Positions in lists do not count. */
export function governs(
  { at, value }: About,
  { path: place, pattern }: Pick<Mismatch, "path" | "pattern">,
): boolean {
  const path = place.replaceAll(/\.\d+(?=\.|$)/g, "");
  if (path === at || path.startsWith(`${at}.`)) return value === undefined || states(pattern, value);
  // What must not be like this must not have this place.
  if (
    value === ABSENCE && isJsonObject(pattern) && "$not" in pattern &&
    (path === "" || at.startsWith(`${path}.`))
  ) {
    return patternsAt(pattern["$not"], (path === "" ? at : at.slice(path.length + 1)).split(".")).length > 0;
  }
  if (path !== "" && !at.startsWith(`${path}.`)) return false;
  const rest = path === "" ? at : at.slice(path.length + 1);
  return patternsAt(pattern, rest.split(".")).some((each) =>
    // Where the whole is missing, what has to be absent is absent.
    !(path !== "" && isAbsence(each)) && (value === undefined || states(each, value))
  );
}

/** The parts of a pattern at a place, with those of its alternatives. The part at the `length` of a list is the number. */
function patternsAt(pattern: unknown, place: readonly string[]): unknown[] {
  if (place.length === 0) return [pattern];
  if (Array.isArray(pattern)) {
    const count = place.length === 1 && place[0] === "length" ? [pattern.length] : [];
    return [...count, ...pattern.flatMap((each) => patternsAt(each, place))];
  }
  if (!isJsonObject(pattern)) return [];
  const inside = Object.entries(pattern).flatMap(([name, each]) =>
    name.startsWith("$") && name !== "$not" ? patternsAt(each, place) : []
  );
  const [name, ...rest] = place;
  return Object.hasOwn(pattern, name!) ? [...inside, ...patternsAt(pattern[name!], rest)] : inside;
}

/** Whether a pattern names a value, also among its alternatives. For `*`: whether it names none; for `$absent`: whether it forbids any. */
export function states(pattern: unknown, value: unknown): boolean {
  if (value === ABSENCE) return isAbsence(pattern);
  if (value === ANY_VALUE) return !namesValue(pattern);
  if (pattern === value) return true;
  if (Array.isArray(pattern)) return pattern.some((each) => states(each, value));
  return isJsonObject(pattern) &&
    Object.entries(pattern).some(([name, each]) => name !== "$not" && states(each, value));
}

/** Matchers whose operand is not the value itself. */
const LOOSE = ["$type", "$any", "$min", "$max", "$length", "$pattern", "$absent"];

function namesValue(pattern: unknown): boolean {
  if (Array.isArray(pattern)) return pattern.some(namesValue);
  if (!isJsonObject(pattern)) return pattern !== undefined;
  return Object.entries(pattern).some(([name, each]) => !LOOSE.includes(name) && namesValue(each));
}

/** Whether it is about one value. */
export function namesOne({ value }: About): boolean {
  return value !== undefined && value !== ANY_VALUE && value !== ABSENCE;
}

/** The values in a pattern, in order. */
export function listValues(pattern: unknown): unknown[] {
  if (Array.isArray(pattern)) return pattern.flatMap(listValues);
  return isJsonObject(pattern) ? Object.values(pattern).flatMap(listValues) : [pattern];
}
