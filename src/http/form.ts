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
  for (const [name, value] of new URLSearchParams(text)) {
    if (!values.has(name)) values.set(name, value);
    else (repeated ??= []).push(name);
  }
  return { values, repeated: repeated ?? NONE };
}

const NONE: readonly string[] = [];

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
