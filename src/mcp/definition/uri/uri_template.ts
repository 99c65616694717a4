/**
 * Matches URIs against URI templates, levels 1 to 4 (https://www.rfc-editor.org/rfc/rfc6570): from a URI to the variables
 * from which the template expands to it. Section 1.4 leaves the rules open; ours are at {@linkcode compileUriTemplate}.
 * A prefix value (`{name:3}`) is as long as the URI has it.
 *
 * @module
 */
import { WorkSlice } from "../../../http/work_slice.ts";
import { encodeReserved, parseUriTemplate } from "./uri_expression.ts";
import { matchSteps, toSteps } from "./uri_match.ts";

/** The variables of a URI; `undefined` for a URI to which the template cannot expand. */
export type MatchUri = (uri: string) => Record<string, string> | undefined;

/** A longer URI matches no template: callers choose URIs, and the work grows with their length. */
export const MAX_URI_CHARACTERS = 8192;

/**
 * Compiles a template to a function that returns the percent-decoded variables of a URI, in time proportional to the
 * length of the URI.
 *
 * - `{name}` matches one or more characters except "/", "?" and "#"; `{+name}` matches any characters. An expression
 *   with another operator may be absent as a whole: then its variables are absent.
 * - If a URI matches in several ways, the match in which most variables have a value counts; earlier variables get the
 *   longer values.
 * - `{?…}` and a `{&…}` that follows it match parameters in any order; so do `;` parameters. A URI with an unknown or
 *   repeated name does not match, unless a variable is exploded.
 * - A list is returned as its items joined by ",", an exploded object as `key=value` joined by ",".
 * - A variable that the template has twice must have the same value twice.
 * - A URI with invalid percent-encoding does not match.
 *
 * A decoded value may contain any character, also "/".
 *
 * @throws {TypeError} naming the invalid part of the template
 */
export function compileUriTemplate(template: string): MatchUri {
  const steps = toSteps(parseUriTemplate(template));
  // The fixed beginning of every matching URI: a quick test before the match.
  const prefix = steps[0]?.isOptional === false ? steps[0].before.split("%")[0]! : "";
  return (uri) => {
    if (uri.length > MAX_URI_CHARACTERS || !uri.startsWith(prefix) || /%(?![\dA-Fa-f]{2})/.test(uri)) {
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

const compiled = new WeakMap<object, MatchUri>();

/** How long URIs may be matched before other work gets a turn. */
const MAX_MATCH_MS = 10;
/** How long all requests together matched URIs since other work had a turn, in milliseconds. */
let matchedMs = 0;
let turn: Promise<void> | undefined;

/**
 * The templates of definitions that match a URI, each with its variables, in order. Templates are compiled at first use.
 * Other work runs in between, since templates may be many, and so may be the URIs of one request.
 */
export async function* matchTemplates<Template extends { readonly name: string }>(
  templates: Iterable<Template>,
  uri: string,
): AsyncGenerator<readonly [Template, Record<string, string>]> {
  for (const template of templates) {
    while (matchedMs > MAX_MATCH_MS) {
      await (turn ??= new WorkSlice().yield().then(() => {
        matchedMs = 0;
        turn = undefined;
      }));
    }
    const since = performance.now();
    const variables = matchTemplate(template, uri);
    matchedMs += performance.now() - since;
    if (variables) yield [template, variables];
  }
}

function matchTemplate(template: { readonly name: string }, uri: string): ReturnType<MatchUri> {
  let match = compiled.get(template);
  if (!match) compiled.set(template, match = compileUriTemplate(template.name));
  return match(uri);
}
