/**
 * Fills templates such as `{{a.b.0}}` with variables (`FORMAT.md` section 4).
 *
 * @module
 */
import { KitError } from "../outcome.ts";
import { isJsonObject } from "./vector_file.ts";

export type Variables = Record<string, unknown>;

const WHOLE = /^\{\{([^{}]+)\}\}$/;
const PART = /\{\{([^{}]+)\}\}/g;

/** The variable at a path of names and positions. @throws {KitError} if it is unknown */
export function getVariable(path: string, variables: Variables): unknown {
  const value = findVariable(path, variables);
  if (value === undefined) throw new KitError(`Unknown variable "{{${path}}}"`);
  return value;
}

/** Whether a path leads to a variable, which may be `null`. */
export function hasVariable(path: string, variables: Variables): boolean {
  return findVariable(path, variables) !== undefined;
}

function findVariable(path: string, variables: Variables): unknown {
  let value: unknown = variables;
  for (const step of path.trim().split(".")) {
    const next = Array.isArray(value) || isJsonObject(value) ? (value as Variables) : undefined;
    const isThere = next && Object.hasOwn(next, step) && !(Array.isArray(next) && step === "length");
    if (!isThere) return undefined;
    value = next[step];
  }
  return value;
}

/** Fills the templates of a value, names of members included. @throws {KitError} */
export function fillTemplates(value: unknown, variables: Variables): unknown {
  if (typeof value === "string") return fillString(value, variables);
  if (Array.isArray(value)) return value.map((item) => fillTemplates(item, variables));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map((
      [name, item],
    ) => [String(fillString(name, variables)), fillTemplates(item, variables)]),
  );
}

/** Fills the templates of header fields. A field that inserts `null` becomes `null`, and is not sent. @throws {KitError} */
export function fillFields(fields: Variables, variables: Variables): Variables {
  if (!isJsonObject(fields)) throw new KitError('Invalid "headers": must be an object');
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      String(fillString(name, variables)),
      insertsNull(value, variables) ? null : fillTemplates(value, variables),
    ]),
  );
}

function insertsNull(value: unknown, variables: Variables): boolean {
  return typeof value === "string" &&
    [...value.matchAll(PART)].some(([, path]) => getVariable(path!, variables) === null);
}

function fillString(text: string, variables: Variables): unknown {
  const whole = WHOLE.exec(text);
  if (whole) return getVariable(whole[1]!, variables);
  return text.replace(PART, (_, path: string) => {
    return toText(getVariable(path, variables), `Cannot insert "{{${path}}}" into "${text}"`);
  });
}

/** A string, number or boolean as a string. @throws {KitError} for any other value */
export function toText(value: unknown, what = "Cannot convert a value"): string {
  if (typeof value === "object" || value === undefined) {
    throw new KitError(`${what}: ${JSON.stringify(value)} is not a string, number or boolean`);
  }
  return String(value);
}
