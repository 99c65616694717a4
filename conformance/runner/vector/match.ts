/**
 * Matches values against patterns: objects as subsets, lists and scalars exactly, and the matchers of
 * `FORMAT.md` section 3.
 *
 * @module
 */
import { parseJws, verifyJws } from "./jws.ts";
import { KitError, type Mismatch } from "../outcome.ts";
import { describePattern, formatValue } from "../report/describe.ts";
import { getVariable, type Variables } from "./template.ts";
import { isJsonObject, type JsonObject } from "./vector_file.ts";

type Matcher = (operand: never, value: unknown, variables: Variables, path: string) => unknown;

const MATCHERS: Readonly<Record<string, Matcher>> = {
  $absent: (_: unknown, value) => value === undefined,
  $any: (_: unknown, value) => value !== undefined,
  $oneOf: async (patterns: readonly unknown[], value, variables, path) => {
    for (const pattern of patterns) if (!await findMismatch(pattern, value, variables, path)) return true;
    return false;
  },
  $all: async (patterns: readonly unknown[], value, variables, path) => {
    for (const pattern of patterns) {
      const found = await findMismatch(pattern, value, variables, path);
      if (found) return found;
    }
    return true;
  },
  $not: async (pattern: unknown, value, variables, path) =>
    value !== undefined && await findMismatch(pattern, value, variables, path) !== undefined,
  $type: (type: string, value) =>
    getJsonType(value) === type || type === "number" && typeof value === "number",
  $startsWith: (start: string, value) => typeof value === "string" && value.startsWith(start),
  $endsWith: (end: string, value) => typeof value === "string" && value.endsWith(end),
  $contains: async (pattern: unknown, value, variables, path) => {
    if (typeof value === "string") return typeof pattern === "string" && value.includes(pattern);
    if (!Array.isArray(value)) return false;
    for (const item of value) if (!await findMismatch(pattern, item, variables, path)) return true;
    return false;
  },
  $containsIgnoreCase: (part: string, value) =>
    typeof value === "string" && lowerAscii(value).includes(lowerAscii(part)),
  $every: async (pattern: unknown, value, variables, path) => {
    if (!Array.isArray(value)) return false;
    for (const [at, item] of value.entries()) {
      const found = await findMismatch(pattern, item, variables, `${path}.${at}`);
      if (found) return found;
    }
    return true;
  },
  $length: async (pattern: unknown, value, variables, path) => {
    const length = findLength(value);
    return length !== undefined && (await findMismatch(pattern, length, variables, `${path}.length`) ?? true);
  },
  $min: (bound: unknown, value) => (findSize(value) ?? NaN) >= getBound(bound),
  $max: (bound: unknown, value) => (findSize(value) ?? NaN) <= getBound(bound),
  $pattern: (source: string, value) => typeof value === "string" && compilePattern(source).test(value),
  $eq: (wanted: unknown, value) => isEqual(wanted, value),
  $sameAs: (name: string, value, variables) => isEqual(getVariable(name, variables), value),
  $differsFrom: (name: string, value, variables) =>
    value !== undefined && !isEqual(getVariable(name, variables), value),
  $unique: (_: unknown, value) =>
    Array.isArray(value) && new Set(value.map(toCanonicalJson)).size === value.length,
  $json: async (pattern: unknown, value, variables, path) => {
    if (typeof value !== "string") return false;
    const parsed = parseJson(value);
    return parsed !== undefined && (await findMismatch(pattern, parsed, variables, `${path}.$json`) ?? true);
  },
  $url: async (pattern: unknown, value, variables, path) => {
    const view = typeof value === "string" ? toUrlView(value) : undefined;
    return view !== undefined && (await findMismatch(pattern, view, variables, `${path}.$url`) ?? true);
  },
  $jwt: async ({ header, claims, keys }: JsonObject, value, variables, path) => {
    const jws = typeof value === "string" ? parseJws(value) : undefined;
    if (!jws) return false;
    const found =
      (header === undefined
        ? undefined
        : await findMismatch(header, jws.header, variables, `${path}.header`)) ??
        (claims === undefined
          ? undefined
          : await findMismatch(claims, jws.claims, variables, `${path}.claims`));
    if (found) return found;
    return keys === undefined || await verifyJws(value as string, keys) ||
      { path, expected: "a signature by one of the keys", actual: "a signature that none of them verifies" };
  },
};

/** The first place where a value does not match a pattern, whose templates are filled. @throws {KitError} */
export async function findMismatch(
  pattern: unknown,
  value: unknown,
  variables: Variables,
  path = "",
): Promise<Mismatch | undefined> {
  if (isJsonObject(pattern)) {
    const names = Object.keys(pattern);
    return names.length > 0 && names.every((name) => name.startsWith("$"))
      ? await findMatcherMismatch(pattern, value, variables, path)
      : await findMemberMismatch(pattern, value, variables, path);
  }
  if (Array.isArray(pattern)) return await findItemMismatch(pattern, value, variables, path);
  return pattern === value ? undefined : createMismatch(path, pattern, value);
}

async function findMatcherMismatch(
  pattern: JsonObject,
  value: unknown,
  variables: Variables,
  path: string,
): Promise<Mismatch | undefined> {
  for (const [name, operand] of Object.entries(pattern)) {
    const matcher = Object.hasOwn(MATCHERS, name) ? MATCHERS[name] : undefined;
    if (!matcher) throw new KitError(`Unknown matcher "${name}"`);
    const result = await matcher(operand as never, value, variables, path);
    if (result === true || result === undefined) continue;
    return isJsonObject(result)
      ? result as unknown as Mismatch
      : createMismatch(path, { [name]: operand }, value);
  }
  return undefined;
}

async function findMemberMismatch(
  pattern: JsonObject,
  value: unknown,
  variables: Variables,
  path: string,
): Promise<Mismatch | undefined> {
  if (!isJsonObject(value)) return createMismatch(path, pattern, value);
  for (const [name, wanted] of Object.entries(pattern)) {
    if (name.startsWith("$")) {
      throw new KitError(`Invalid pattern: the matcher "${name}" is beside property names`);
    }
    const place = path === "" ? name : `${path}.${name}`;
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    const found = await findMismatch(wanted, member, variables, place);
    if (found) return found;
  }
  return undefined;
}

async function findItemMismatch(
  pattern: readonly unknown[],
  value: unknown,
  variables: Variables,
  path: string,
): Promise<Mismatch | undefined> {
  if (!Array.isArray(value) || value.length === 0 && pattern.length > 0) {
    return createMismatch(path, pattern, value);
  }
  if (value.length !== pattern.length) return createMismatch(`${path}.length`, pattern.length, value.length);
  for (const [at, wanted] of pattern.entries()) {
    const found = await findMismatch(wanted, value[at], variables, `${path}.${at}`);
    if (found) return found;
  }
  return undefined;
}

/** The parts of a URL that `$url` matches. `undefined` if the text is not a URL. */
function toUrlView(text: string): JsonObject | undefined {
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

/** The parameters of a query or fragment. A repeated name has a list of values. */
export function toParameters(text: string): JsonObject {
  return collectValues(new URLSearchParams(text.replace(/^[?#]/, "")));
}

/** Names with their values. A repeated name has a list of values. */
export function collectValues(pairs: Iterable<readonly [name: string, value: string]>): JsonObject {
  const values: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const before = values[name];
    values[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return { ...values };
}

/** Whether two values are equal as JSON. The order of members does not matter. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length &&
      one.every((item, at) => isEqual(item, other[at]));
  }
  if (!isJsonObject(one)) return one === other;
  if (!isJsonObject(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name]));
}

/** JSON text with sorted names, so that equal values have equal texts. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_, each) =>
      isJsonObject(each)
        ? Object.fromEntries(Object.keys(each).sort().map((name) => [name, each[name]]))
        : each,
  );
}

/** Limit of values in one text: each parsed value takes many times the memory of its bytes. */
const MAX_JSON_VALUES = 1_000_000;

/** Parses a JSON text. `undefined` if it is invalid or too large. */
export function parseJson(text: string): unknown {
  if (text.length > MAX_JSON_VALUES && countValues(text) > MAX_JSON_VALUES) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Estimates the number of values in a JSON text by its brackets, commas and colons. */
function countValues(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x2c || code === 0x3a || code === 0x5b || code === 0x7b) count++;
  }
  return count;
}

function createMismatch(path: string, expected: unknown, actual: unknown): Mismatch {
  return { path, expected: describePattern(expected), actual: formatValue(actual), pattern: expected };
}

function getJsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && Number.isInteger(value)) return "integer";
  return typeof value;
}

function findLength(value: unknown): number | undefined {
  if (typeof value !== "string") return Array.isArray(value) ? value.length : undefined;
  let length = 0;
  for (const _ of value) length++;
  return length;
}

function findSize(value: unknown): number | undefined {
  return typeof value === "number" ? value : findLength(value);
}

function getBound(bound: unknown): number {
  if (typeof bound !== "number") throw new KitError(`Invalid bound "${bound}": must be a number`);
  return bound;
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const compiledPatterns = new Map<string, RegExp>();

function compilePattern(source: string): RegExp {
  try {
    const known = compiledPatterns.get(source) ?? new RegExp(source, "u");
    compiledPatterns.set(source, known);
    return known;
  } catch (error) {
    throw new KitError(`Invalid regular expression "${source}"`, { cause: error });
  }
}
