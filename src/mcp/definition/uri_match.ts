/**
 * Reading a URI by the pieces of a template: what `compileUriTemplate` promises, in time proportional to the
 * length of the URI.
 *
 * @module
 */
import type { Expression, Variable } from "./uri_expression.ts";

const PERCENT = 37;

/** One piece of a URI: a text, then a value, whose characters go on up to one that stops it. */
export interface Step {
  readonly before: string;
  /** By character code, all of ASCII; `undefined` for a text without a value. */
  readonly stops?: readonly boolean[];
  readonly separator: string;
  readonly variables: Variable[];
  readonly isNamed: boolean;
  /** Text and value may be missing together; otherwise the value has a character at least. */
  readonly isOptional: boolean;
}

/** The pieces of a template, in their order. */
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

/** The variables of a text; `undefined` when the pieces could not have made it. */
export function matchSteps(steps: readonly Step[], text: string): Record<string, string> | undefined {
  return isPlain(steps) ? matchInOrder(steps, text) : matchByTable(steps, text);
}

/** Whether there is one reading at the most: each value ends where the text after it begins. */
function isPlain(steps: readonly Step[]): boolean {
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
    const values = read(step, text.slice(start, at));
    if (values === undefined) return undefined;
    for (const value of values) found.push(value);
  }
  return at === text.length ? join(found) : undefined;
}

/**
 * Finds the reading of a text that gives most variables a value. The table holds, for each step and place, how many
 * steps can still be taken from there (and 1 for the end of the text), or 0 when the rest does not fit: first for
 * standing before the step, then for standing inside its value. It is filled from the end, each entry once.
 */
function matchByTable(steps: readonly Step[], text: string): Record<string, string> | undefined {
  const size = text.length + 1;
  const table = new Uint16Array((2 * steps.length + 1) * size);
  const after = (at: number): number => at + (text.charCodeAt(at) === PERCENT ? 3 : 1);
  const takes = ({ stops }: Step, at: number): boolean =>
    stops !== undefined && at < text.length && !stops[text.charCodeAt(at)];
  /** Where a step's value goes on after what it must have, or -1. */
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
    const values = read(step, text.slice(from, at));
    if (values === undefined) return undefined;
    for (const value of values) found.push(value);
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
