/**
 * How the value of a parameter is written in a request: its `style` and `explode`
 * (https://spec.openapis.org/oas/v3.1.1#style-values, RFC 6570).
 *
 * @module
 */
import { isObject } from "../json_schema/value.ts";

export interface Style {
  readonly style: string;
  readonly explode: boolean;
  /** Leaves reserved characters that cannot end a value unencoded. */
  readonly allowReserved: boolean;
}

/** The styles of each place; the first is the default. */
export const STYLES: Readonly<Record<string, readonly string[]>> = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"],
  header: ["simple"],
  cookie: ["form"],
};

/** Unreserved characters (RFC 3986 section 2.3). */
const UNRESERVED = toSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");
/** The same, and reserved ones that neither end a value of a query nor begin an escape. */
const HARMLESS = toSet(":/?@$,;", UNRESERVED);
const HEX_DIGITS = new TextEncoder().encode("0123456789ABCDEF");
const PERCENT = 37;

/** Has 1 at the code of each character. */
function toSet(characters: string, others: Uint8Array = new Uint8Array(256)): Uint8Array {
  const set = others.slice();
  for (const each of characters) set[each.charCodeAt(0)] = 1;
  return set;
}

/**
 * Percent-encodes a value: everything but unreserved characters. Byte by byte, because a form may have megabytes, and to
 * replace each character of a text takes a hundred times as long.
 */
export function encode(text: string, allowReserved = false): string {
  const kept = allowReserved ? HARMLESS : UNRESERVED;
  // A lone surrogate, which has no UTF-8, becomes U+FFFD.
  const bytes = new TextEncoder().encode(text);
  const encoded = new Uint8Array(3 * bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (kept[byte] === 1) {
      encoded[length++] = byte;
      continue;
    }
    encoded[length++] = PERCENT;
    encoded[length++] = HEX_DIGITS[byte >> 4]!;
    encoded[length++] = HEX_DIGITS[byte & 15]!;
  }
  return new TextDecoder().decode(encoded.subarray(0, length));
}

/** The text of one value that has no structure in its style: objects and arrays become JSON. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

/** The segment, or part of one, of a path parameter. */
export function writePath(name: string, value: unknown, { style, explode }: Style): string {
  const write = (each: unknown) => encode(toText(each));
  const separator = style === "label" ? "." : style === "matrix" ? ";" : ",";
  const key = encode(name);
  if (Array.isArray(value)) {
    if (style === "matrix") {
      return explode
        ? value.map((each) => `;${key}=${write(each)}`).join("")
        : `;${key}=${value.map(write).join(",")}`;
    }
    const joined = value.map(write).join(explode ? separator : ",");
    return style === "label" ? `.${joined}` : joined;
  }
  if (isObject(value)) {
    const pairs = entriesOf(value);
    const joined = explode
      ? pairs.map(([key, each]) => `${encode(key)}=${write(each)}`).join(separator)
      : pairs.map(([key, each]) => `${encode(key)},${write(each)}`).join(",");
    if (style === "matrix") return explode ? `;${joined}` : `;${key}=${joined}`;
    return style === "label" ? `.${joined}` : joined;
  }
  return style === "label"
    ? `.${write(value)}`
    : style === "matrix"
    ? `;${key}=${write(value)}`
    : write(value);
}

/** The pairs of a query or a form, encoded. */
export function writeQuery(name: string, value: unknown, style: Style): string[] {
  const { explode, allowReserved } = style;
  const key = encode(name);
  const write = (each: unknown) => encode(toText(each), allowReserved);
  if (style.style === "deepObject") {
    return typeof value === "object" && value !== null
      ? writeDeep(name, value, allowReserved)
      : [`${key}=${write(value)}`];
  }
  const separator = style.style === "spaceDelimited" ? "%20" : style.style === "pipeDelimited" ? "%7C" : ",";
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    return explode
      ? value.map((each) => `${key}=${write(each)}`)
      : [`${key}=${value.map(write).join(separator)}`];
  }
  if (isObject(value)) {
    const pairs = entriesOf(value);
    if (pairs.length === 0) return [];
    return explode && style.style === "form"
      ? pairs.map(([name, each]) => `${encode(name)}=${write(each)}`)
      : [
        `${key}=${pairs.map(([name, each]) => `${encode(name)}${separator}${write(each)}`).join(separator)}`,
      ];
  }
  return [`${key}=${write(value)}`];
}

/** `a[b][0]=…`, as servers that know nested parameters read them; OpenAPI defines the first level only. */
function writeDeep(name: string, value: unknown, allowReserved: boolean): string[] {
  if (typeof value !== "object" || value === null) {
    return [`${encodeDeepName(name)}=${encode(toText(value), allowReserved)}`];
  }
  const pairs: [string, unknown][] = Array.isArray(value)
    ? value.map((each, at) => [String(at), each])
    : entriesOf(value as Record<string, unknown>);
  return pairs.flatMap(([key, each]) => writeDeep(`${name}[${key}]`, each, allowReserved));
}

/**
 * How many of so many characters are left after the names of these values, if each of them has the names of the objects
 * around it; negative when they are too many. Indexes count as two brackets.
 */
export function nameCharactersLeft(name: number, value: unknown, left: number): number {
  if (typeof value !== "object" || value === null) return left - name;
  const isList = Array.isArray(value);
  let rest = left;
  for (const [key, each] of Object.entries(value)) {
    rest = nameCharactersLeft(name + 2 + (isList ? 0 : key.length), each, rest);
    if (rest < 0) break;
  }
  return rest;
}

function encodeDeepName(name: string): string {
  return encode(name).replaceAll("%5B", "[").replaceAll("%5D", "]");
}

/** The value of a header field in the style `simple`; header fields are not percent-encoded. */
export function writeHeader(value: unknown, explode: boolean): string {
  if (Array.isArray(value)) return value.map(toText).join(",");
  if (!isObject(value)) return toText(value);
  return entriesOf(value).map(([key, each]) => `${key}${explode ? "=" : ","}${toText(each)}`).join(",");
}

/** Absent members are not written. */
function entriesOf(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).filter(([, each]) => each !== undefined && each !== null);
}
