/**
 * Patterns and answers in words, for who reads why a vector failed and never saw the format.
 *
 * @module
 */
import { isMembers, type Members } from "../vector/vector_file.ts";

const MAX_SHOWN_CHARACTERS = 400;
const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

/** A value for people, short. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  let text: string;
  try {
    // What is long is cut before it is written, not after.
    text = JSON.stringify(typeof value === "string" ? value.slice(0, 4 * MAX_SHOWN_CHARACTERS) : value);
    if (typeof value === "string" && value.length > MAX_SHOWN_CHARACTERS) {
      return `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${value.length} characters)`;
    }
  } catch {
    text = "a value that nests too deep to show";
  }
  return text.length > MAX_SHOWN_CHARACTERS
    ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${text.length} characters)`
    : text;
}

/** A pattern in words. */
export function sayPattern(pattern: unknown): string {
  const text = say(pattern);
  return text.length > 2 * MAX_SHOWN_CHARACTERS ? `${text.slice(0, 2 * MAX_SHOWN_CHARACTERS)}…` : text;
}

function say(pattern: unknown): string {
  if (Array.isArray(pattern)) return `[${pattern.map(say).join(", ")}]`;
  if (!isMembers(pattern)) return show(pattern);
  const names = Object.keys(pattern);
  if (names.length === 0) return "an object";
  if (names.every((name) => name.startsWith("$"))) return sayMatchers(pattern);
  const members = Object.entries(pattern).map(([name, each]) =>
    isMembers(each) && each["$absent"] === true ? `no ${name}` : `${name}: ${say(each)}`
  );
  return `{ ${members.join(", ")} }`;
}

function sayMatchers({ $min, $max, ...others }: Members): string {
  const all = Object.entries(others).map(([name, operand]) => sayMatcher(name, operand));
  if ($min !== undefined && $max !== undefined) all.unshift(`from ${$min} to ${$max}`);
  else if ($min !== undefined) all.unshift(`at least ${$min}`);
  else if ($max !== undefined) all.unshift(`at most ${$max}`);
  return all.join(" and ");
}

function sayMatcher(name: string, operand: unknown): string {
  switch (name) {
    case "$absent":
      return "nothing";
    case "$any":
      return "anything";
    case "$oneOf":
      return join(operand, " or ");
    case "$all":
      return join(operand, " and ");
    case "$not":
      return `anything but ${say(operand)}`;
    case "$type":
      return TYPES[String(operand)] ?? String(operand);
    case "$startsWith":
      return `a text that begins with ${show(operand)}`;
    case "$endsWith":
      return `a text that ends with ${show(operand)}`;
    case "$contains":
      return typeof operand === "string"
        ? `something with ${show(operand)} in it`
        : `a list with ${say(operand)} in it`;
    case "$containsIgnoreCase":
      return `a text with ${show(operand)} in it`;
    case "$every":
      return `a list whose items are each ${say(operand)}`;
    case "$length":
      return `of length ${say(operand)}`;
    case "$pattern":
      return `a text like /${operand}/`;
    case "$eq":
      return `exactly ${show(operand)}`;
    case "$sameAs":
      return `the same as "${operand}"`;
    case "$differsFrom":
      return `something other than "${operand}"`;
    case "$unique":
      return "a list whose items all differ";
    case "$json":
      return `a text of JSON: ${say(operand)}`;
    case "$url":
      return `an address with ${say(operand)}`;
    case "$jwt":
      return sayJwt(operand as Members);
    default:
      return show({ [name]: operand });
  }
}

function sayJwt({ header, claims, keys }: Members): string {
  const parts = [
    ...(header === undefined ? [] : [`header ${say(header)}`]),
    ...(claims === undefined ? [] : [`claims ${say(claims)}`]),
    ...(keys === undefined ? [] : ["a signature by one of the keys"]),
  ];
  return parts.length === 0 ? "a JWT" : `a JWT with ${parts.join(", ")}`;
}

function join(patterns: unknown, by: string): string {
  const all = (Array.isArray(patterns) ? patterns : [patterns]).map(say);
  return all.length === 1 ? all[0]! : `(${all.join(by)})`;
}

function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARACTERS / 2 ? `${text.slice(0, MAX_SHOWN_CHARACTERS / 2)}…` : text;
}

/** An answer in a line: what a reader looks at first. */
export function sayAnswer(view: Members): string {
  const { status, headers, broken, body, messages, events } = view;
  const { location, "content-type": type } = (isMembers(headers) ? headers : {}) as Members;
  const text = typeof body === "string"
    ? body.slice(0, 4 * MAX_SHOWN_CHARACTERS).replace(/\s+/g, " ").trim()
    : "";
  const parts = [
    ...(broken === undefined ? [] : [`broken (${broken})`]),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(location === undefined ? [] : [`location ${cut(String(location))}`]),
    ...(type === undefined ? [] : [String(type)]),
    ...(Array.isArray(messages) ? [`messages ${show(messages)}`] : []),
    ...(Array.isArray(events) ? [`events ${show(events)}`] : []),
    ...(text === "" || Array.isArray(messages) || Array.isArray(events) ? [] : [`body ${cut(text)}`]),
  ];
  return parts.length === 0 ? show(view) : parts.join(", ");
}
