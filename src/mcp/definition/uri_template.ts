/**
 * URI templates, levels 1 to 4 (https://www.rfc-editor.org/rfc/rfc6570), in both directions: from variables to a URI,
 * and from a URI to the variables that could have made it. Section 1.4 leaves the second open; the rules here are at
 * {@linkcode compileUriTemplate}. Values of prefixes (`{name:3}`) are read as far as the URI has them.
 *
 * @module
 */
import { encodeReserved, type Expression, type Operator, parse } from "./uri_expression.ts";
import { matchSteps, toSteps } from "./uri_match.ts";

/** A list expands item by item, an object as names and values in its order; null and undefined are left out. */
export type TemplateValue =
  | string
  | number
  | readonly string[]
  | Readonly<Record<string, string>>
  | null
  | undefined;

/** Reads a URI; `undefined` when the template could not have made it. */
export type MatchUri = (uri: string) => Record<string, string> | undefined;

/**
 * The names of a template's variables, each once, in the order of their first use.
 * @throws {TypeError} naming the part of the template that cannot be read
 */
export function variableNames(template: string): readonly string[] {
  const names = parse(template).flatMap((part) =>
    typeof part === "string" ? [] : part.variables.map(({ name }) => name)
  );
  return [...new Set(names)];
}

/**
 * The URI that a template makes of variables (RFC 6570 section 3).
 * @throws {TypeError} naming the part of the template that cannot be read, or a list that is to be cut like a text
 * @throws {URIError} for half of a surrogate pair
 */
export function expandUriTemplate(
  template: string,
  variables: Readonly<Record<string, TemplateValue>>,
): string {
  return parse(template).map((part) => typeof part === "string" ? part : expand(part, variables)).join("");
}

function expand(
  { operator, variables }: Expression,
  values: Readonly<Record<string, TemplateValue>>,
): string {
  const encode = operator.reserved ? encodeReserved : encodeValue;
  // Section 3.2.7: of the named ones, only `;` leaves out the "=" of an empty value.
  const pair = (name: string, encoded: string): string =>
    encoded === "" && operator.separator === ";" ? name : `${name}=${encoded}`;
  const pieces = variables.flatMap(({ name, explode, prefix }) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null) return [];
    const put = (encoded: string): string => operator.named ? pair(name, encoded) : encoded;
    if (typeof value !== "object") {
      return put(encode(prefix ? cut(`${value}`, prefix, operator) : `${value}`));
    }
    // Section 2.4.1: "Prefix modifiers are not applicable to variables that have composite values".
    if (prefix) throw new TypeError(`Cannot expand "{${name}:${prefix}}": the value must be a text`);
    const isList = Array.isArray(value);
    const items = isList ? value.map(encode) : Object.entries(value).map((entry) => entry.map(encode));
    if (items.length === 0) return [];
    if (!explode) return put(items.flat().join(","));
    return isList
      ? value.map((item) => put(encode(item)))
      : (items as string[][]).map(([key, item]) => pair(key!, item!));
  });
  return pieces.length === 0 ? "" : operator.first + pieces.join(operator.separator);
}

/** The first characters; what is one character when percent-encoded stays whole (section 3.2.1). */
function cut(text: string, length: number, { reserved }: Operator): string {
  const characters = reserved ? text.match(/%[\da-f]{2}(?:%[89ab][\da-f])*|./gisu) ?? [] : [...text];
  return characters.slice(0, length).join("");
}

/** All but letters, digits and `-._~` percent-encoded. */
function encodeValue(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => "%" + char.charCodeAt(0).toString(16).toUpperCase(),
  );
}

/** Longer URIs match nothing: strangers choose them, and the work grows with their length. */
export const MAX_URI_CHARACTERS = 8192;

/**
 * A function that gives the percent-decoded variables of a URI, in time proportional to its length.
 *
 * - `{name}` is at least one character and has no "/", "?" or "#"; `{+name}` may have any. What the other operators
 *   make may be left out as a whole: then the variable is missing.
 * - Where a URI can be read in several ways, most variables get a value, and earlier ones the longer value.
 * - `{?…}` and `{&…}` that follows it are read as one, in any order; so are `;` parameters. A name that the template
 *   does not have, or a name twice, is no match, unless a variable is exploded.
 * - Lists come back joined by ",", exploded objects as `key=value` joined by ",".
 * - A variable that the template has twice must have the same value twice.
 * - A URI whose percent-encoding is broken or no UTF-8 is no match.
 *
 * A decoded value may hold any character, "/" too.
 *
 * @throws {TypeError} naming the part of the template that cannot be read
 */
export function compileUriTemplate(template: string): MatchUri {
  const steps = toSteps(parse(template));
  // What every URI starts with, whichever way it is written: most templates are refused by it.
  const head = steps[0]?.isOptional === false ? steps[0].before.split("%")[0]! : "";
  return (uri) => {
    if (uri.length > MAX_URI_CHARACTERS || !uri.startsWith(head) || /%(?![\dA-Fa-f]{2})/.test(uri)) {
      return undefined;
    }
    try {
      const text = encodeReserved(uri);
      return text.length > MAX_URI_CHARACTERS ? undefined : matchSteps(steps, text);
    } catch (error) {
      if (error instanceof URIError) return undefined;
      throw error;
    }
  };
}
