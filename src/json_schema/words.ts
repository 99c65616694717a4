/**
 * How violations speak of values: a language model must be able to mend what it sent, so they say what came, in a few
 * words, and never give a long value back.
 *
 * @module
 */

const LONGEST_VALUE = 40;
const LONGEST_OPERAND = 200;

/** A value that came, in a few words. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return value.length <= LONGEST_VALUE ? JSON.stringify(value) : `a string of ${value.length} characters`;
  }
  if (Array.isArray(value)) return `an array of ${many(value.length, "item")}`;
  return typeof value === "object" && value !== null ? "an object" : clip(String(value), LONGEST_VALUE);
}

/** Something that the schema asks for, as it is written there. */
export function asWritten(operand: unknown): string {
  return clip(JSON.stringify(operand) ?? String(operand), LONGEST_OPERAND);
}

/** A list of things that the schema asks for. */
export function listed(operands: readonly unknown[]): string {
  return clip(operands.map((operand) => asWritten(operand)).join(", "), LONGEST_OPERAND);
}

/** `1 item`, `2 items`, `2 properties`. */
export function many(count: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${count} ${count === 1 ? noun : plural}`;
}

export function clip(text: string, most: number): string {
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}

/** One step of a JSON Pointer (RFC 6901 section 3). */
export function pointerStep(name: string): string {
  return "/" + name.replaceAll("~", "~0").replaceAll("/", "~1");
}
