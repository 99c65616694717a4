/**
 * The texts in violations. A language model must be able to correct what it sent, so they describe the value that came in a
 * few words. A long value is never repeated.
 *
 * @module
 */

const MAX_VALUE_CHARACTERS = 40;
const MAX_KEYWORD_VALUE_CHARACTERS = 200;

/** Describes a value that came, in a few words. */
export function describeValue(value: unknown): string {
  if (typeof value === "string") {
    return value.length <= MAX_VALUE_CHARACTERS
      ? JSON.stringify(value)
      : `a string of ${value.length} characters`;
  }
  if (Array.isArray(value)) return `an array of ${pluralize(value.length, "item")}`;
  return typeof value === "object" && value !== null
    ? "an object"
    : truncate(String(value), MAX_VALUE_CHARACTERS);
}

/** The value of a keyword as JSON, truncated. */
export function toJsonText(keywordValue: unknown): string {
  return truncate(JSON.stringify(keywordValue) ?? String(keywordValue), MAX_KEYWORD_VALUE_CHARACTERS);
}

/** Several values as JSON, separated by commas, truncated. */
export function toJsonTexts(keywordValues: readonly unknown[]): string {
  return truncate(
    keywordValues.map((keywordValue) => toJsonText(keywordValue)).join(", "),
    MAX_KEYWORD_VALUE_CHARACTERS,
  );
}

/** `1 item`, `2 items`, `2 properties`. */
export function pluralize(count: number, noun: string): string {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${count} ${count === 1 ? noun : plural}`;
}

export function truncate(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? text.slice(0, maxCharacters - 1) + "…" : text;
}

/** One step of a JSON Pointer (RFC 6901 section 3). */
export function pointerStep(name: string): string {
  return "/" + name.replaceAll("~", "~0").replaceAll("/", "~1");
}
