/**
 * `application/x-www-form-urlencoded`, in bodies and queries (https://url.spec.whatwg.org/#urlencoded-parsing),
 * with the one rule that OAuth adds: a name comes at most once.
 *
 * @module
 */
import { BodyError, readText } from "./body.ts";
import { mediaType } from "./media_type.ts";

/** Names and values, the first of each name; `repeated` lists the names that came more than once. */
export interface Form {
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];
}

/** Reads a query or a form body. */
export function parseForm(text: string): Form {
  const values = new Map<string, string>();
  let repeated: string[] | undefined;
  for (const [name, value] of readPairs(text)) {
    if (!values.has(name)) values.set(name, value);
    else (repeated ??= []).push(name);
  }
  return { values, repeated: repeated ?? NONE };
}

const NONE: readonly string[] = [];

/** Names and values in order, as `URLSearchParams` has them: most texts need no more than their pieces. */
export function readPairs(text: string): Iterable<readonly [name: string, value: string]> {
  // It passes over a question mark in front, and puts U+FFFD where bytes are no UTF-8.
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

/** @throws {URIError} for percent signs that encode no UTF-8 */
function decode(text: string): string {
  const plain = text.includes("+") ? text.replaceAll("+", " ") : text;
  return plain.includes("%") ? decodeURIComponent(plain) : plain;
}

/**
 * Reads the request's form body.
 * @throws {BodyError} 415 for another media type, else as {@linkcode readText}
 */
export async function readForm(request: Request, limit: number): Promise<Form> {
  if (mediaType(request.headers.get("content-type")) !== "application/x-www-form-urlencoded") {
    throw new BodyError(415, "The body must be application/x-www-form-urlencoded");
  }
  return parseForm(await readText(request, limit));
}
