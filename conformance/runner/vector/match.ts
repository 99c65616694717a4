/**
 * Patterns over a view: subsets, exact lists and scalars, and the closed list of matchers of `FORMAT.md` section 3.
 *
 * @module
 */
import { readJws, verifyJws } from "./jws.ts";
import { KitError } from "../outcome.ts";
import { sayPattern, show } from "../report/say.ts";
import { lookUp, type Variables } from "./template.ts";
import { isMembers, type Members } from "./vector_file.ts";

/** Where a value does not match, and why; nothing when it matches. */
export interface Mismatch {
  /** Members and positions, joined by dots. */
  readonly path: string;
  readonly expected: string;
  readonly actual: string;
}

type Matcher = (operand: never, value: unknown, variables: Variables, path: string) => unknown;

const MATCHERS: Readonly<Record<string, Matcher>> = {
  $absent: (_: unknown, value) => value === undefined,
  $any: (_: unknown, value) => value !== undefined,
  $oneOf: async (patterns: readonly unknown[], value, variables, path) => {
    for (const pattern of patterns) if (!await match(pattern, value, variables, path)) return true;
    return false;
  },
  $all: async (patterns: readonly unknown[], value, variables, path) => {
    for (const pattern of patterns) {
      const found = await match(pattern, value, variables, path);
      if (found) return found;
    }
    return true;
  },
  $not: async (pattern: unknown, value, variables, path) =>
    value !== undefined && await match(pattern, value, variables, path) !== undefined,
  $type: (type: string, value) => typeOf(value) === type || type === "number" && typeof value === "number",
  $startsWith: (start: string, value) => typeof value === "string" && value.startsWith(start),
  $endsWith: (end: string, value) => typeof value === "string" && value.endsWith(end),
  $contains: async (pattern: unknown, value, variables, path) => {
    if (typeof value === "string") return typeof pattern === "string" && value.includes(pattern);
    if (!Array.isArray(value)) return false;
    for (const item of value) if (!await match(pattern, item, variables, path)) return true;
    return false;
  },
  $containsIgnoreCase: (part: string, value) =>
    typeof value === "string" && lowerAscii(value).includes(lowerAscii(part)),
  $every: async (pattern: unknown, value, variables, path) => {
    if (!Array.isArray(value)) return false;
    for (const [at, item] of value.entries()) {
      const found = await match(pattern, item, variables, `${path}.${at}`);
      if (found) return found;
    }
    return true;
  },
  $length: async (pattern: unknown, value, variables, path) => {
    const length = lengthOf(value);
    return length !== undefined && (await match(pattern, length, variables, `${path}.length`) ?? true);
  },
  $min: (bound: unknown, value) => (sizeOf(value) ?? NaN) >= numberOf(bound),
  $max: (bound: unknown, value) => (sizeOf(value) ?? NaN) <= numberOf(bound),
  $pattern: (source: string, value) => typeof value === "string" && regExp(source).test(value),
  $eq: (wanted: unknown, value) => isEqual(wanted, value),
  $sameAs: (name: string, value, variables) => isEqual(lookUp(name, variables), value),
  $differsFrom: (name: string, value, variables) =>
    value !== undefined && !isEqual(lookUp(name, variables), value),
  $unique: (_: unknown, value) => Array.isArray(value) && new Set(value.map(keyOf)).size === value.length,
  $json: async (pattern: unknown, value, variables, path) => {
    if (typeof value !== "string") return false;
    const parsed = parseJson(value);
    return parsed !== undefined && (await match(pattern, parsed, variables, `${path}.$json`) ?? true);
  },
  $url: async (pattern: unknown, value, variables, path) => {
    const view = typeof value === "string" ? urlView(value) : undefined;
    return view !== undefined && (await match(pattern, view, variables, `${path}.$url`) ?? true);
  },
  $jwt: async ({ header, claims, keys }: Members, value, variables, path) => {
    const jws = typeof value === "string" ? readJws(value) : undefined;
    if (!jws) return false;
    const found =
      (header === undefined ? undefined : await match(header, jws.header, variables, `${path}.header`)) ??
        (claims === undefined ? undefined : await match(claims, jws.claims, variables, `${path}.claims`));
    if (found) return found;
    return keys === undefined || await verifyJws(value as string, keys) ||
      { path, expected: "a signature by one of the keys", actual: "one that none of them verifies" };
  },
};

/** The first place where a value does not match a pattern, whose templates are filled. @throws {KitError} */
export async function match(
  pattern: unknown,
  value: unknown,
  variables: Variables,
  path = "",
): Promise<Mismatch | undefined> {
  if (isMembers(pattern)) {
    const names = Object.keys(pattern);
    return names.length > 0 && names.every((name) => name.startsWith("$"))
      ? await matchMatchers(pattern, value, variables, path)
      : await matchMembers(pattern, value, variables, path);
  }
  if (Array.isArray(pattern)) return await matchItems(pattern, value, variables, path);
  return pattern === value ? undefined : mismatch(path, pattern, value);
}

async function matchMatchers(
  pattern: Members,
  value: unknown,
  variables: Variables,
  path: string,
): Promise<Mismatch | undefined> {
  for (const [name, operand] of Object.entries(pattern)) {
    const matcher = Object.hasOwn(MATCHERS, name) ? MATCHERS[name] : undefined;
    if (!matcher) throw new KitError(`Cannot match by "${name}": there is no such matcher`);
    const result = await matcher(operand as never, value, variables, path);
    if (result === true || result === undefined) continue;
    return isMembers(result) ? result as unknown as Mismatch : mismatch(path, { [name]: operand }, value);
  }
  return undefined;
}

async function matchMembers(
  pattern: Members,
  value: unknown,
  variables: Variables,
  path: string,
): Promise<Mismatch | undefined> {
  if (!isMembers(value)) return mismatch(path, pattern, value);
  for (const [name, wanted] of Object.entries(pattern)) {
    if (name.startsWith("$")) throw new KitError(`Cannot match: "${name}" stands beside names of members`);
    const place = path === "" ? name : `${path}.${name}`;
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    const found = await match(wanted, member, variables, place);
    if (found) return found;
  }
  return undefined;
}

async function matchItems(
  pattern: readonly unknown[],
  value: unknown,
  variables: Variables,
  path: string,
): Promise<Mismatch | undefined> {
  if (!Array.isArray(value) || value.length !== pattern.length) return mismatch(path, pattern, value);
  for (const [at, wanted] of pattern.entries()) {
    const found = await match(wanted, value[at], variables, `${path}.${at}`);
    if (found) return found;
  }
  return undefined;
}

/** The view of an address that `$url` matches and `redirect` shows. */
export function urlView(text: string): Members | undefined {
  const url = URL.parse(text);
  if (!url) return undefined;
  return {
    scheme: url.protocol.slice(0, -1),
    host: url.hostname,
    port: url.port === "" ? { "http:": 80, "https:": 443 }[url.protocol] : Number(url.port),
    path: url.pathname,
    query: toParameters(url.search),
    fragment: url.hash.slice(1),
  };
}

/** Names to values of a query or fragment; a repeated name has a list. */
export function toParameters(text: string): Members {
  const parameters: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text.replace(/^[?#]/, ""))) {
    const before = parameters[name];
    parameters[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return { ...parameters };
}

/** Equal as JSON: members in any order. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length &&
      one.every((item, at) => isEqual(item, other[at]));
  }
  if (!isMembers(one)) return one === other;
  if (!isMembers(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]));
}

/** A text that equal values, and only those, have in common. */
function keyOf(value: unknown): string {
  return JSON.stringify(
    value,
    (_, each) =>
      isMembers(each) ? Object.fromEntries(Object.keys(each).sort().map((name) => [name, each[name]])) : each,
  );
}

/** Of one text: no answer has more, and each costs many times its bytes. */
const MAX_VALUES = 1_000_000;

/** A text as JSON, or nothing: no JSON text is `undefined`. */
export function parseJson(text: string): unknown {
  if (text.length > MAX_VALUES && countOf(text) > MAX_VALUES) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How many values a text of JSON has, about: what stands after brackets, commas and colons. */
function countOf(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x2c || code === 0x3a || code === 0x5b || code === 0x7b) count++;
  }
  return count;
}

function mismatch(path: string, expected: unknown, actual: unknown): Mismatch {
  return { path, expected: sayPattern(expected), actual: show(actual) };
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && Number.isInteger(value)) return "integer";
  return value === undefined ? "nothing" : typeof value;
}

function lengthOf(value: unknown): number | undefined {
  if (typeof value !== "string") return Array.isArray(value) ? value.length : undefined;
  let length = 0;
  for (const _ of value) length++;
  return length;
}

function sizeOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : lengthOf(value);
}

function numberOf(bound: unknown): number {
  if (typeof bound !== "number") throw new KitError(`Cannot match: "${bound}" is no number to be a bound`);
  return bound;
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const compiled = new Map<string, RegExp>();

function regExp(source: string): RegExp {
  try {
    const known = compiled.get(source) ?? new RegExp(source, "u");
    compiled.set(source, known);
    return known;
  } catch (error) {
    throw new KitError(`Cannot match by "${source}": it is no regular expression`, { cause: error });
  }
}
