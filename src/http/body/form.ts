/**
 * Parses `application/x-www-form-urlencoded` bodies and queries (https://url.spec.whatwg.org/#urlencoded-parsing) and
 * lists repeated names, which OAuth does not allow (RFC 6749 section 3.1).
 *
 * @module
 */
import { readText } from "./body.ts";
import { BodyError } from "./body_error.ts";
import { mediaType } from "./media_type.ts";

/** The first value of each name. `repeated` lists the names that occur more than once. */
export interface Form {
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];
}

/** Parses a query or a form body. */
export function parseForm(text: string): Form {
  const values = new Map<string, string>();
  let repeated: string[] | undefined;
  for (const [name, value] of parsePairs(text)) {
    if (!values.has(name)) values.set(name, value);
    else (repeated ??= []).push(name);
  }
  return { values, repeated: repeated ?? NONE };
}

const NONE: readonly string[] = [];

/** Names and values in order, as `URLSearchParams` returns them, but faster for most texts. */
export function parsePairs(text: string): Iterable<readonly [name: string, value: string]> {
  // `URLSearchParams` skips a leading question mark, and replaces invalid UTF-8 by U+FFFD.
  if (text.startsWith("?")) return new URLSearchParams(text);
  const pairs: [string, string][] = [];
  try {
    for (let at = 0; at < text.length;) {
      let end = text.indexOf("&", at);
      if (end < 0) end = text.length;
      if (end > at) {
        const equals = text.indexOf("=", at);
        const isPair = equals >= 0 && equals < end;
        const name = decode(text.slice(at, isPair ? equals : end));
        pairs.push([name, isPair ? decode(text.slice(equals + 1, end)) : ""]);
      }
      at = end + 1;
    }
    return pairs;
  } catch {
    return new URLSearchParams(text);
  }
}

/** @throws {URIError} for percent-encoded bytes that are not UTF-8 */
function decode(text: string): string {
  const plain = text.includes("+") ? text.replaceAll("+", " ") : text;
  return plain.includes("%") ? decodeURIComponent(plain) : plain;
}

/**
 * Reads and parses the form body of a request.
 * @throws {BodyError} as {@linkcode readFormText}
 */
export async function readForm(request: Request, limit: number): Promise<Form> {
  return parseForm(await readFormText(request, limit));
}

/**
 * Reads the form body of a request, not parsed.
 * @throws {BodyError} 415 for another media type, otherwise as {@linkcode readText}
 */
export function readFormText(request: Request, limit: number): Promise<string> {
  if (mediaType(request.headers.get("content-type")) !== "application/x-www-form-urlencoded") {
    throw new BodyError(415, "Content-Type must be application/x-www-form-urlencoded");
  }
  return readText(request, limit);
}
