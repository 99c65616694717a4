/**
 * `{{a.b.0}}` in texts of a step: `FORMAT.md` section 4.
 *
 * @module
 */
import { KitError } from "../outcome.ts";
import { isMembers } from "./vector_file.ts";

export type Variables = Record<string, unknown>;

const WHOLE = /^\{\{([^{}]+)\}\}$/;
const PART = /\{\{([^{}]+)\}\}/g;

/** The variable at a path of members and positions. @throws {KitError} when there is none */
export function lookUp(path: string, variables: Variables): unknown {
  const value = find(path, variables);
  if (value === undefined) throw new KitError(`Cannot fill "{{${path}}}": there is no variable of this name`);
  return value;
}

/** Whether there is a variable at a path, were it `null`. */
export function has(path: string, variables: Variables): boolean {
  return find(path, variables) !== undefined;
}

function find(path: string, variables: Variables): unknown {
  let value: unknown = variables;
  for (const step of path.trim().split(".")) {
    const next = Array.isArray(value) || isMembers(value) ? (value as Variables) : undefined;
    const isThere = next && Object.hasOwn(next, step) && !(Array.isArray(next) && step === "length");
    if (!isThere) return undefined;
    value = next[step];
  }
  return value;
}

/** A value with its templates filled, names of members included. @throws {KitError} */
export function fill(value: unknown, variables: Variables): unknown {
  if (typeof value === "string") return fillText(value, variables);
  if (Array.isArray(value)) return value.map((item) => fill(item, variables));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [String(fillText(name, variables)), fill(item, variables)]),
  );
}

/** Fields of a request. One whose text holds a variable that is `null` is `null` itself: it is left out. @throws {KitError} */
export function fillFields(fields: Variables, variables: Variables): Variables {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      String(fillText(name, variables)),
      holdsNull(value, variables) ? null : fill(value, variables),
    ]),
  );
}

function holdsNull(value: unknown, variables: Variables): boolean {
  return typeof value === "string" &&
    [...value.matchAll(PART)].some(([, path]) => lookUp(path!, variables) === null);
}

function fillText(text: string, variables: Variables): unknown {
  const whole = WHOLE.exec(text);
  if (whole) return lookUp(whole[1]!, variables);
  return text.replace(PART, (_, path: string) => {
    return toText(lookUp(path, variables), `Cannot fill "{{${path}}}" into "${text}"`);
  });
}

/** A text, number or boolean as a text. @throws {KitError} for what is none of them */
export function toText(value: unknown, what = "Cannot write a value"): string {
  if (typeof value === "object" || value === undefined) {
    throw new KitError(`${what}: ${JSON.stringify(value)} is no text or number`);
  }
  return String(value);
}
