/**
 * Describes patterns, values and responses in words, for readers of a report who do not know the vector
 * format.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";

const MAX_SHOWN_CHARACTERS = 400;
/** How an absent value is written. */
export const NO_VALUE = "no value";
/** The types of JSON Schema, with their articles. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  object: "an object",
  array: "an array",
  null: "null",
};

/** A value as short JSON. */
export function formatValue(value: unknown): string {
  if (value === undefined) return NO_VALUE;
  let text: string;
  try {
    // A long string is cut before it is serialized, to save memory.
    text = JSON.stringify(typeof value === "string" ? value.slice(0, 4 * MAX_SHOWN_CHARACTERS) : value);
    if (typeof value === "string" && value.length > MAX_SHOWN_CHARACTERS) {
      return `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${value.length} characters)`;
    }
  } catch {
    text = "a value that is nested too deeply to show";
  }
  return text.length > MAX_SHOWN_CHARACTERS
    ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${text.length} characters)`
    : text;
}

/** A pattern in words, cut if it is long. */
export function describePattern(pattern: unknown): string {
  const text = describe(pattern);
  return text.length > 2 * MAX_SHOWN_CHARACTERS ? `${text.slice(0, 2 * MAX_SHOWN_CHARACTERS)}…` : text;
}

function describe(pattern: unknown): string {
  if (Array.isArray(pattern)) return `[${pattern.map(describe).join(", ")}]`;
  if (!isJsonObject(pattern)) return formatValue(pattern);
  const names = Object.keys(pattern);
  if (names.length === 0) return "an object";
  if (names.every((name) => name.startsWith("$"))) return describeMatchers(pattern);
  const members = Object.entries(pattern).map(([name, each]) =>
    isJsonObject(each) && each["$absent"] === true ? `no ${name}` : `${name}: ${describe(each)}`
  );
  return `{ ${members.join(", ")} }`;
}

function describeMatchers({ $min, $max, ...others }: JsonObject): string {
  const all = Object.entries(others).map(([name, operand]) => describeMatcher(name, operand));
  if ($min !== undefined && $max !== undefined) all.unshift(`from ${$min} to ${$max}`);
  else if ($min !== undefined) all.unshift(`at least ${$min}`);
  else if ($max !== undefined) all.unshift(`at most ${$max}`);
  return all.join(" and ");
}

function describeMatcher(name: string, operand: unknown): string {
  switch (name) {
    case "$absent":
      return NO_VALUE;
    case "$any":
      return "any value";
    case "$oneOf":
      return join(operand, " or ");
    case "$all":
      return join(operand, " and ");
    case "$not":
      return `anything except ${describe(operand)}`;
    case "$type":
      return TYPE_NAMES[String(operand)] ?? String(operand);
    case "$startsWith":
      return `a string that begins with ${formatValue(operand)}`;
    case "$endsWith":
      return `a string that ends with ${formatValue(operand)}`;
    case "$contains":
      return typeof operand === "string"
        ? `a string that contains ${formatValue(operand)}`
        : `an array that contains ${describe(operand)}`;
    case "$containsIgnoreCase":
      return `a string that contains ${formatValue(operand)} in any case`;
    case "$every":
      return `an array whose items are all ${describe(operand)}`;
    case "$length":
      return `length ${describe(operand)}`;
    case "$pattern":
      return `a string that matches /${operand}/`;
    case "$eq":
      return `exactly ${formatValue(operand)}`;
    case "$sameAs":
      return `the value of variable "${operand}"`;
    case "$differsFrom":
      return `a value other than that of variable "${operand}"`;
    case "$unique":
      return "an array of unique items";
    case "$json":
      return `JSON text: ${describe(operand)}`;
    case "$url":
      return `a URL with ${describe(operand)}`;
    case "$jwt":
      return describeJwt(operand as JsonObject);
    default:
      return formatValue({ [name]: operand });
  }
}

function describeJwt({ header, claims, keys }: JsonObject): string {
  const parts = [
    ...(header === undefined ? [] : [`header ${describe(header)}`]),
    ...(claims === undefined ? [] : [`claims ${describe(claims)}`]),
    ...(keys === undefined ? [] : ["a signature by one of the keys"]),
  ];
  return parts.length === 0 ? "a JWT" : `a JWT with ${parts.join(", ")}`;
}

function join(patterns: unknown, by: string): string {
  const all = (Array.isArray(patterns) ? patterns : [patterns]).map(describe);
  return all.length === 1 ? all[0]! : `(${all.join(by)})`;
}

function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS / 2 ? `${text.slice(0, MAX_SHOWN_CHARACTERS / 2)}…` : text;
}

/** A response in one line, with what helps a reader most. */
export function describeView(view: JsonObject): string {
  const { status, headers, broken, body, messages, events } = view;
  const { location, "content-type": type } = (isJsonObject(headers) ? headers : {}) as JsonObject;
  const text = typeof body === "string"
    ? body.slice(0, 4 * MAX_SHOWN_CHARACTERS).replace(/\s+/g, " ").trim()
    : "";
  const parts = [
    ...(broken === undefined ? [] : [`broken (${broken})`]),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(location === undefined ? [] : [`location ${cut(String(location))}`]),
    ...(type === undefined ? [] : [String(type)]),
    ...(Array.isArray(messages) ? [`messages ${formatValue(messages)}`] : []),
    ...(Array.isArray(events) ? [`events ${formatValue(events)}`] : []),
    ...(text === "" || Array.isArray(messages) || Array.isArray(events) ? [] : [`body ${cut(text)}`]),
  ];
  return parts.length === 0 ? formatValue(view) : parts.join(", ");
}
