/**
 * Matches a URI against the steps of a template, by the rules of `compileUriTemplate`, in time proportional to the
 * length of the URI.
 *
 * @module
 */
import type { Expression, Variable } from "./uri_expression.ts";

const PERCENT = 37;

/** One step of a match: a literal text, then a value up to a character that ends it. */
export interface Step {
  readonly before: string;
  /** Whether an ASCII character ends the value, by character code; `undefined` for a step without a value. */
  readonly stops?: readonly boolean[];
  readonly separator: string;
  readonly variables: Variable[];
  readonly isNamed: boolean;
  /** Whether text and value may be absent together; otherwise the value has one character or more. */
  readonly isOptional: boolean;
}

/** The steps of a template, in order. */
export function toSteps(parts: readonly (string | Expression)[]): Step[] {
  const steps: Step[] = [];
  for (const part of parts) {
    if (typeof part === "string") {
      steps.push({ before: part, separator: "", variables: [], isNamed: false, isOptional: false });
      continue;
    }
    const { operator: { first, separator, stops, named: isNamed = false }, variables } = part;
    const last = steps.at(-1);
    if (isNamed && first === last?.separator) { for (const each of variables) last.variables.push(each); }
    else if (isNamed) {
      steps.push({
        before: first,
        stops: toCodes(stops),
        separator,
        variables: [...variables],
        isNamed,
        isOptional: true,
      });
    } else {
      variables.forEach((variable, i) => {
        const isOptional = i > 0 || first !== "";
        const text = !isOptional && last?.variables.length === 0 ? steps.pop()!.before : "";
        const before = i > 0 ? separator : first || text;
        const ends = variable.explode ? stops.replace(separator, "") : stops;
        steps.push({ before, stops: toCodes(ends), separator, variables: [variable], isNamed, isOptional });
      });
    }
  }
  return steps;
}

function toCodes(characters: string): boolean[] {
  return Array.from({ length: 128 }, (_, code) => characters.includes(String.fromCharCode(code)));
}

/** The variables of a text; `undefined` when it does not match. */
export function matchSteps(steps: readonly Step[], text: string): Record<string, string> | undefined {
  return isUnambiguous(steps) ? matchInOrder(steps, text) : matchByTable(steps, text);
}

/** Whether a text matches in one way at most: each value ends where the next literal begins. */
function isUnambiguous(steps: readonly Step[]): boolean {
  return steps.every(({ isOptional, stops }, i) => {
    const next = steps[i + 1];
    return !isOptional && (next === undefined || stops === undefined || stops[next.before.charCodeAt(0)]);
  });
}

function matchInOrder(steps: readonly Step[], text: string): Record<string, string> | undefined {
  const found: [Variable, string][] = [];
  let at = 0;
  for (const step of steps) {
    if (!text.startsWith(step.before, at)) return undefined;
    const start = at += step.before.length;
    if (step.stops === undefined) continue;
    if (!step.stops.includes(true)) at = text.length;
    while (at < text.length && !step.stops[text.charCodeAt(at)]) at++;
    if (at === start) return undefined;
    const values = readValues(step, text.slice(start, at));
    if (values === undefined) return undefined;
    for (const value of values) found.push(value);
  }
  return at === text.length ? toVariables(found) : undefined;
}

/**
 * Finds the match in which most variables have a value. For each step and position, the table holds how many steps can
 * still be taken from there (plus 1 at the end of the text), or 0 when the rest does not match: first for the position
 * before the step, then for the position inside its value. It is filled from the end, each entry once.
 */
function matchByTable(steps: readonly Step[], text: string): Record<string, string> | undefined {
  const size = text.length + 1;
  const table = new Uint16Array((2 * steps.length + 1) * size);
  const after = (at: number): number => at + (text.charCodeAt(at) === PERCENT ? 3 : 1);
  const takes = ({ stops }: Step, at: number): boolean =>
    stops !== undefined && at < text.length && !stops[text.charCodeAt(at)];
  /** The position after the literal and the required first character of the step, or -1. */
  const enter = (step: Step, at: number): number => {
    const { before } = step;
    if (before !== "" && (text.charCodeAt(at) !== before.charCodeAt(0) || !text.startsWith(before, at))) {
      return -1;
    }
    const start = at + before.length;
    return step.isOptional || step.stops === undefined ? start : takes(step, start) ? after(start) : -1;
  };

  table[table.length - 1] = 1;
  for (let s = steps.length - 1; s >= 0; s--) {
    const step = steps[s]!;
    const outside = 2 * s * size, inside = outside + size, next = inside + size;
    for (let at = text.length; at >= 0; at--) {
      const left = table[next + at]!;
      const further = takes(step, at) ? table[inside + after(at)]! : 0;
      table[inside + at] = further > left ? further : left;
      const start = enter(step, at);
      const taken = start < 0 || table[inside + start] === 0 ? 0 : table[inside + start]! + 1;
      table[outside + at] = step.isOptional && left > taken ? left : taken;
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
    const values = readValues(step, text.slice(from, at));
    if (values === undefined) return undefined;
    for (const value of values) found.push(value);
  }
  return toVariables(found);
}

/** The variables of a step. A named variable occurs once unless it is exploded. */
function readValues({ separator, variables, isNamed }: Step, raw: string): [Variable, string][] | undefined {
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

/** One value for each name: the whole value if there is one; prefix values must be its beginning. */
function toVariables(found: [Variable, string][]): Record<string, string> | undefined {
  const values = new Map<string, string>();
  for (const [{ name, prefix }, value] of found.sort(([a], [b]) => (b.prefix || 1e5) - (a.prefix || 1e5))) {
    const known = values.get(name) ?? value;
    if (prefix ? [...value].length > prefix || !known.startsWith(value) : known !== value) return undefined;
    values.set(name, known);
  }
  return Object.fromEntries(values);
}
