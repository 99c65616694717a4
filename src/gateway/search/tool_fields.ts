/**
 * The texts of a tool by which a search finds it, and the line by which a result shows it.
 *
 * @module
 */
import { isObject } from "../../json_schema/value.ts";
import type { Fields } from "./search_index.ts";

/** Levels of objects and arrays in a schema that are searched, and their properties and values. */
const MAX_DEPTH = 4;
const MAX_PROPERTIES = 200;
/** Characters of the line of a result. */
const MAX_LINE_CHARACTERS = 120;

export interface DescribedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
}

export function toFields({ name, title = "", description = "", inputSchema }: DescribedTool): Fields {
  const names: string[] = [];
  const descriptions: string[] = [];
  collect(inputSchema, names, descriptions, MAX_DEPTH);
  return {
    name,
    title,
    description,
    parameters: names.join(" "),
    parameterDescriptions: descriptions.join("\n"),
  };
}

function collect(schema: unknown, names: string[], descriptions: string[], depth: number): void {
  if (!isObject(schema) || depth === 0 || names.length > MAX_PROPERTIES) return;
  const { properties, items, anyOf, oneOf, allOf, enum: values } = schema;
  if (Array.isArray(values)) {
    for (const value of values.slice(0, MAX_PROPERTIES)) if (typeof value === "string") names.push(value);
  }
  if (isObject(properties)) {
    for (const [name, property] of Object.entries(properties).slice(0, MAX_PROPERTIES)) {
      names.push(name);
      if (!isObject(property)) continue;
      if (typeof property.description === "string") descriptions.push(property.description);
      collect(property, names, descriptions, depth - 1);
    }
  }
  collect(items, names, descriptions, depth - 1);
  for (const list of [anyOf, oneOf, allOf]) {
    if (Array.isArray(list)) { for (const each of list) collect(each, names, descriptions, depth - 1); }
  }
}

/** The first sentence of a description, as one line. */
export function toLine(description: string): string {
  const line = description.replace(/\s+/g, " ").trim();
  const sentence = /^.*?[.!?。](?=\s\P{Ll}|$)/u.exec(line)?.[0] ?? line;
  const text = sentence.replace(/\.$/, "");
  return text.length <= MAX_LINE_CHARACTERS
    ? text
    : text.slice(0, MAX_LINE_CHARACTERS).replace(/\s\S*$/, "") + " …";
}
