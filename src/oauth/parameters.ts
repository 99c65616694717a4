/**
 * The parameters of an OAuth request (https://www.rfc-editor.org/rfc/rfc6749#section-3.1 and #section-3.2): each comes at
 * most once, an empty one counts as left out, one that is not known is passed over.
 *
 * @module
 */
import { parsePairs, readFormText } from "../http/body/form.ts";
import { OAuthError, plain } from "./error.ts";

/** RFC 8707 §2 and RFC 8693 §2.1: what may come several times. */
export type ListName = "resource" | "audience";

export interface Parameters {
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Every value of a parameter that may come several times, in order. */
  all(name: ListName): readonly string[];
  /** Names that came more than once and may not. */
  readonly repeated: readonly string[];
  /** As they came, form-encoded. */
  readonly text: string;
}

/** Bytes of a form: a JWT or two fit in. */
const FORM_LIMIT = 16 * 1024;
/** More than any request has: a form of thousands of names is an attack on whoever looks at each. */
const MOST = 100;
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

/** Reads a query or a form. @throws {OAuthError} invalid_request for more parameters than any request has */
export function parseParameters(text: string): Parameters {
  const values = new Map<string, string>();
  let repeated: string[] | undefined;
  let lists: Map<string, string[]> | undefined;
  let count = 0;
  for (const [name, value] of parsePairs(text)) {
    if (++count > MOST) throw new OAuthError("invalid_request", `Too many parameters. Send at most ${MOST}`);
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
 * Reads the form that a program posted. The query is not looked at: what is there, logs and histories keep (RFC 6749
 * §2.3.1).
 * @throws {OAuthError} invalid_request for a repeated parameter
 * @throws {BodyError} when the body is too large, cut off, or no form
 */
export async function readParameters(request: Request): Promise<Parameters> {
  const parameters = parseParameters(await readFormText(request, FORM_LIMIT));
  refuseRepeated(parameters);
  return parameters;
}

/** @throws {OAuthError} invalid_request naming what came more than once */
export function refuseRepeated({ repeated }: Parameters): void {
  if (repeated.length === 0) return;
  throw new OAuthError(
    "invalid_request",
    `Parameters must not be included more than once: ${plain(repeated.join(" "))}`,
  );
}
