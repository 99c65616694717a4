/**
 * The parameters of an OAuth request (https://www.rfc-editor.org/rfc/rfc6749#section-3.1 and #section-3.2): each may be
 * included at most once, one without a value counts as omitted, an unknown one is ignored.
 *
 * @module
 */
import { parsePairs, readFormText } from "../http/body/form.ts";
import { OAuthError, plain } from "./error.ts";

/** The parameters that may be included several times: RFC 8707 §2 and RFC 8693 §2.1. */
export type ListName = "resource" | "audience";

export interface Parameters {
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** All values of a parameter that may be included several times, in order. */
  all(name: ListName): readonly string[];
  /** Names that were included more than once and must not be. */
  readonly repeated: readonly string[];
  /** The query or body as received. */
  readonly text: string;
}

/** Room for two JWTs. */
const MAX_FORM_BYTES = 16 * 1024;
/** Far above what a valid request needs, so that a form with thousands of names costs little. */
const MAX_PARAMETERS = 100;
const NONE: readonly string[] = [];

class ParsedParameters implements Parameters {
  readonly repeated: readonly string[];
  readonly text: string;
  #values: ReadonlyMap<string, string>;
  #lists: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(
    text: string,
    values: ReadonlyMap<string, string>,
    repeated: readonly string[],
    lists: ReadonlyMap<string, readonly string[]> | undefined,
  ) {
    this.text = text;
    this.#values = values;
    this.repeated = repeated;
    this.#lists = lists;
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  all(name: ListName): readonly string[] {
    return this.#lists?.get(name) ?? NONE;
  }
}

/** Reads a query or a form. @throws {OAuthError} invalid_request for too many parameters */
export function parseParameters(text: string): Parameters {
  const values = new Map<string, string>();
  let repeated: string[] | undefined;
  let lists: Map<string, string[]> | undefined;
  let count = 0;
  for (const [name, value] of parsePairs(text)) {
    if (++count > MAX_PARAMETERS) {
      throw new OAuthError("invalid_request", `Too many parameters. Send at most ${MAX_PARAMETERS}`);
    }
    if (value === "") continue;
    if (name === "resource" || name === "audience") {
      lists ??= new Map();
      const list = lists.get(name);
      if (list) list.push(value);
      else lists.set(name, [value]);
    } else if (values.has(name)) (repeated ??= []).push(name);
    else values.set(name, value);
  }
  return new ParsedParameters(text, values, repeated ?? NONE, lists);
}

/**
 * Reads the form body. The query is ignored: credentials must not be in a URL, which logs and histories keep (RFC 6749
 * §2.3.1).
 * @throws {OAuthError} invalid_request for a repeated parameter
 * @throws {BodyError} when the body is too large, truncated, or not a form
 */
export function readParameters(request: Request): Promise<Parameters> {
  return readFormText(request, MAX_FORM_BYTES).then((text) => {
    const parameters = parseParameters(text);
    refuseRepeated(parameters);
    return parameters;
  });
}

/** @throws {OAuthError} invalid_request naming the repeated parameters */
export function refuseRepeated({ repeated }: Parameters): void {
  if (repeated.length === 0) return;
  throw new OAuthError(
    "invalid_request",
    `Parameters must not be included more than once: ${plain(repeated.join(" "))}`,
  );
}
