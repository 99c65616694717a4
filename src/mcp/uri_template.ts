/**
 * URI templates, levels 1 to 4 (https://www.rfc-editor.org/rfc/rfc6570), in both directions: from variables to a URI,
 * and from a URI to the variables that could have made it. Section 1.4 leaves the second open; the rules here are at
 * {@linkcode compileUriTemplate}. Values of prefixes (`{name:3}`) are read as far as the URI has them.
 *
 * @module
 */

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

interface Operator {
  readonly first: string;
  readonly separator: string;
  /** Characters that end a value when reading. */
  readonly stops: string;
  /** Values stand as `name=value`. */
  readonly named?: boolean;
  /** Reserved characters and `%41` in values stay as they are. */
  readonly reserved?: boolean;
}

// RFC 6570, appendix A.
const OPERATORS: Readonly<Record<string, Operator>> = {
  "": { first: "", separator: ",", stops: "/?#" },
  "+": { first: "", separator: ",", stops: "", reserved: true },
  "#": { first: "#", separator: ",", stops: "", reserved: true },
  ".": { first: ".", separator: ".", stops: "/?#" },
  "/": { first: "/", separator: "/", stops: "/?#" },
  ";": { first: ";", separator: ";", stops: "/?#", named: true },
  "?": { first: "?", separator: "&", stops: "#", named: true },
  "&": { first: "&", separator: "&", stops: "#", named: true },
};

interface Variable {
  readonly name: string;
  readonly explode: boolean;
  /** The most characters of the value, or 0 for all. */
  readonly prefix: number;
}

interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/** Text that stands in the URI as it is, and expressions, in turn. */
function parse(template: string): (string | Expression)[] {
  const refuse = (part: string, rule: string): TypeError =>
    new TypeError(`Cannot read URI template "${template}": "${part}" ${rule}`);
  return template.split(/(\{[^{}]*\})/).filter(Boolean).map((part) => {
    if (!part.startsWith("{") || !part.endsWith("}")) {
      // RFC 6570 section 2.1, with the apostrophe (erratum 6937).
      const bad = /%(?![\dA-Fa-f]{2})|[^!#-;=?-[\]_a-z~\u{a0}-\u{d7ff}\u{e000}-\u{10ffff}]/u.exec(part);
      if (bad) throw refuse(bad[0], "may not stand outside of an expression");
      return encodeReserved(part);
    }
    const operator = /^[+#./;?&]?/.exec(part.slice(1))![0];
    const variables = part.slice(1 + operator.length, -1).split(",").map((spec) => {
      const found = /^((?:\w|%[\dA-Fa-f]{2})(?:\.?(?:\w|%[\dA-Fa-f]{2}))*)(?::([1-9]\d{0,3})|(\*))?$/.exec(
        spec,
      );
      if (!found) {
        throw refuse(part, `must be {name}, {name:3}, {name*} or a list of them after one of +#./;?&`);
      }
      return { name: found[1]!, explode: found[3] !== undefined, prefix: Number(found[2] ?? 0) };
    });
    return { operator: OPERATORS[operator]!, variables };
  });
}

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

/** As {@linkcode encodeValue}, but reserved characters and what is percent-encoded already stay. */
function encodeReserved(text: string): string {
  return encodeURI(text).replace(/%5B|%5D|%25(?=[\dA-Fa-f]{2})/g, decodeURIComponent);
}

/** Longer URIs match nothing: strangers choose them, and the work grows with their length. */
const LONGEST = 8192;

/** One piece of a URI: a text, then a value, whose characters go on up to one that stops it. */
interface Step {
  readonly before: string;
  /** `undefined` for a text without a value. */
  readonly stops?: string;
  readonly separator: string;
  readonly variables: Variable[];
  readonly isNamed: boolean;
  /** Text and value may be missing together; otherwise the value has a character at least. */
  readonly isOptional: boolean;
}

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
    if (uri.length > LONGEST || !uri.startsWith(head) || /%(?![\dA-Fa-f]{2})/.test(uri)) return undefined;
    try {
      const text = encodeReserved(uri);
      return text.length > LONGEST ? undefined : match(steps, text);
    } catch (error) {
      if (error instanceof URIError) return undefined;
      throw error;
    }
  };
}

function toSteps(parts: readonly (string | Expression)[]): Step[] {
  const steps: Step[] = [];
  for (const part of parts) {
    if (typeof part === "string") {
      steps.push({ before: part, separator: "", variables: [], isNamed: false, isOptional: false });
      continue;
    }
    const { operator: { first, separator, stops, named: isNamed = false }, variables } = part;
    const last = steps.at(-1);
    if (isNamed && first === last?.separator) last.variables.push(...variables);
    else if (isNamed) {
      steps.push({ before: first, stops, separator, variables: [...variables], isNamed, isOptional: true });
    } else {
      variables.forEach((variable, i) => {
        const isOptional = i > 0 || first !== "";
        const text = !isOptional && last?.variables.length === 0 ? steps.pop()!.before : "";
        const before = i > 0 ? separator : first || text;
        const ends = variable.explode ? stops.replace(separator, "") : stops;
        steps.push({ before, stops: ends, separator, variables: [variable], isNamed, isOptional });
      });
    }
  }
  return steps;
}

/**
 * Finds the reading of a text that gives most variables a value. The table holds, for each step and place, how many
 * steps can still be taken from there (and 1 for the end of the text), or 0 when the rest does not fit: first for
 * standing before the step, then for standing inside its value. It is filled from the end, each entry once.
 */
function match(steps: readonly Step[], text: string): Record<string, string> | undefined {
  const size = text.length + 1;
  const table = new Uint16Array((2 * steps.length + 1) * size);
  const after = (at: number): number => at + (text[at] === "%" ? 3 : 1);
  const takes = ({ stops }: Step, at: number): boolean =>
    stops !== undefined && at < text.length && !stops.includes(text[at]!);
  /** Where a step's value goes on after what it must have, or -1. */
  const enter = (step: Step, at: number): number => {
    if (!text.startsWith(step.before, at)) return -1;
    const start = at + step.before.length;
    return step.isOptional || step.stops === undefined ? start : takes(step, start) ? after(start) : -1;
  };

  table[table.length - 1] = 1;
  for (let s = steps.length - 1; s >= 0; s--) {
    const step = steps[s]!;
    const outside = 2 * s * size, inside = outside + size, next = inside + size;
    for (let at = text.length; at >= 0; at--) {
      const left = table[next + at]!;
      table[inside + at] = takes(step, at) ? Math.max(left, table[inside + after(at)]!) : left;
      const start = enter(step, at);
      const taken = start < 0 || table[inside + start] === 0 ? 0 : table[inside + start]! + 1;
      table[outside + at] = step.isOptional ? Math.max(taken, left) : taken;
    }
  }
  if (table[0] === 0) return undefined;

  const found: [Variable, string][] = [];
  let at = 0;
  for (const [s, step] of steps.entries()) {
    const outside = 2 * s * size, inside = outside + size;
    const start = enter(step, at);
    if (start < 0 || table[inside + start]! + 1 !== table[outside + at]) continue;
    const from = at + step.before.length;
    at = start;
    while (takes(step, at) && table[inside + after(at)] === table[inside + at]) at = after(at);
    const values = read(step, text.slice(from, at));
    if (values === undefined) return undefined;
    found.push(...values);
  }
  return join(found);
}

/** The variables of a step, of which a named one is there once unless it is exploded. */
function read({ separator, variables, isNamed }: Step, raw: string): [Variable, string][] | undefined {
  const exploded = variables.find(({ explode }) => explode);
  const pieces = isNamed || exploded ? raw.split(separator) : [raw];
  if (!isNamed) return variables.map((each) => [each, pieces.map(decodeURIComponent).join(",")]);
  const values = new Map<Variable, string>();
  for (const piece of pieces) {
    const [key, ...rest] = piece.split("=");
    const named = variables.find(({ name }) => name === key);
    const variable = named ?? exploded;
    const before = variable && values.get(variable);
    if (variable === undefined || before !== undefined && !variable.explode) return undefined;
    const value = decodeURIComponent(named ? rest.join("=") : piece);
    values.set(variable, before === undefined ? value : `${before},${value}`);
  }
  return [...values];
}

/** One value for each name: the whole one where there is one, of which the prefixes must be the start. */
function join(found: [Variable, string][]): Record<string, string> | undefined {
  const values = new Map<string, string>();
  for (const [{ name, prefix }, value] of found.sort(([a], [b]) => (b.prefix || 1e5) - (a.prefix || 1e5))) {
    const known = values.get(name) ?? value;
    if (prefix ? [...value].length > prefix || !known.startsWith(value) : known !== value) return undefined;
    values.set(name, known);
  }
  return Object.fromEntries(values);
}
