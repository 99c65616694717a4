/**
 * TypeScript declarations of tools, made of their JSON Schemas, for the model that writes a program.
 *
 * @module
 */
import { isObject } from "../../json_schema/value.ts";

/** Levels of a schema that are written; below is `unknown`. */
const MAX_DEPTH = 6;
/** Alternatives, and properties of an object, that are written. */
const MAX_MEMBERS = 60;
const MAX_COMMENT_CHARACTERS = 160;
const MAX_DESCRIPTION_CHARACTERS = 600;
/** Characters of the types of one declaration; what is beyond is `unknown`. */
const MAX_TYPE_CHARACTERS = 16_384;
/** Of these, what the output has at least. */
const MIN_OUTPUT_CHARACTERS = 4096;
/** What each schema that is written counts at least, so that their number is limited too. */
const SCHEMA_CHARACTERS = 8;
/** A longer reference is not followed. */
const MAX_REFERENCE_CHARACTERS = 1000;

export interface DeclaredTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  /** `undefined` for a tool that returns text. */
  readonly outputSchema: unknown;
}

/** The declaration of a member of `tools`. */
export function toDeclaration({ name, description = "", inputSchema, outputSchema }: DeclaredTool): string {
  const inputWriter = new TypeWriter(inputSchema, MAX_TYPE_CHARACTERS - MIN_OUTPUT_CHARACTERS);
  const input = inputWriter.write(inputSchema, MAX_DEPTH);
  const output = outputSchema === undefined
    ? "string"
    : new TypeWriter(outputSchema, MIN_OUTPUT_CHARACTERS + inputWriter.charactersLeft)
      .write(outputSchema, MAX_DEPTH);
  const optional = isObject(inputSchema) && !hasRequired(inputSchema) ? "?" : "";
  const given = input === "{}" ? "" : `input${optional}: ${input}`;
  return `${comment(description, MAX_DESCRIPTION_CHARACTERS)}${toKey(name)}(${given}): Promise<${output}>;`;
}

function hasRequired({ required }: Record<string, unknown>): boolean {
  return Array.isArray(required) && required.length > 0;
}

function toKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function comment(text: unknown, maxCharacters: number): string {
  if (typeof text !== "string") return "";
  const line = text.slice(0, 4 * maxCharacters).replace(/\s+/g, " ").replaceAll("*/", "* /").trim();
  if (line === "") return "";
  return `/** ${line.length > maxCharacters ? line.slice(0, maxCharacters) + " …" : line} */\n`;
}

class TypeWriter {
  readonly #root: unknown;
  /** The schemas that are being written: one that contains itself is `unknown` there. */
  readonly #path = new Set<object>();
  #charactersLeft: number;

  constructor(root: unknown, maxCharacters: number) {
    this.#root = root;
    this.#charactersLeft = maxCharacters;
  }

  get charactersLeft(): number {
    return Math.max(this.#charactersLeft, 0);
  }

  write(schema: unknown, depth: number): string {
    if (!this.#take(SCHEMA_CHARACTERS) || !isObject(schema) || depth === 0 || this.#path.has(schema)) {
      return "unknown";
    }
    this.#path.add(schema);
    const written = this.#writeSchema(schema, depth);
    this.#path.delete(schema);
    return written;
  }

  /** Whether so many characters may be written. */
  #take(characters: number): boolean {
    this.#charactersLeft -= characters;
    return this.#charactersLeft >= 0;
  }

  #writeConstant(value: unknown): string {
    if (this.#charactersLeft <= 0) return "unknown";
    // Schemas of authors may hold what JSON cannot.
    const text = JSON.stringify(value) ?? "unknown";
    return this.#take(text.length) ? text : "unknown";
  }

  #writeSchema(schema: Record<string, unknown>, depth: number): string {
    const { $ref, const: constant, enum: values, anyOf, oneOf, allOf, type } = schema;
    if (typeof $ref === "string") return this.write(this.#resolve($ref), depth - 1);
    if (constant !== undefined) return this.#writeConstant(constant);
    if (Array.isArray(values)) {
      return unite(values.slice(0, MAX_MEMBERS).map((value) => this.#writeConstant(value)));
    }
    const parts: string[] = [];
    if (schema.properties !== undefined || !anyOf && !oneOf && !allOf) {
      parts.push(this.#writeTypes(schema, type, depth));
    }
    for (const list of [anyOf, oneOf]) {
      if (Array.isArray(list)) {
        parts.push(unite(list.slice(0, MAX_MEMBERS).map((each) => this.write(each, depth - 1))));
      }
    }
    if (Array.isArray(allOf)) {
      parts.push(...allOf.slice(0, MAX_MEMBERS).map((each) => this.write(each, depth - 1)));
    }
    const known = [...new Set(parts)].filter((part) => part !== "unknown");
    if (known.length === 0) return "unknown";
    return known.length === 1
      ? known[0]!
      : known.map((part) => part.includes(" | ") ? `(${part})` : part).join(" & ");
  }

  #writeTypes(schema: Record<string, unknown>, type: unknown, depth: number): string {
    if (Array.isArray(type)) {
      return unite([...new Set(type)].map((each) => this.#writeTypes(schema, each, depth)));
    }
    switch (type) {
      case "string":
      case "boolean":
      case "null":
        return type;
      case "number":
      case "integer":
        return "number";
      case "array": {
        const item = this.write(schema.items, depth - 1);
        return / [|&] /.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
      }
      default:
        return type === "object" || schema.properties !== undefined
          ? this.#writeObject(schema, depth)
          : "unknown";
    }
  }

  #writeObject(
    { properties, required, additionalProperties }: Record<string, unknown>,
    depth: number,
  ): string {
    const names = new Set(Array.isArray(required) && this.#take(required.length) ? required : []);
    const members: string[] = [];
    let isOpen = isObject(additionalProperties) || additionalProperties === true;
    for (
      const [name, property] of Object.entries(isObject(properties) ? properties : {}).slice(0, MAX_MEMBERS)
    ) {
      const note = comment(isObject(property) ? property.description : undefined, MAX_COMMENT_CHARACTERS)
        .replace("\n", " ");
      if (!this.#take(name.length + note.length)) {
        isOpen = true;
        break;
      }
      members.push(`${note}${toKey(name)}${names.has(name) ? "" : "?"}: ${this.write(property, depth - 1)}`);
    }
    if (isOpen) {
      members.push(
        `[name: string]: ${members.length > 0 ? "unknown" : this.write(additionalProperties, depth - 1)}`,
      );
    }
    return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
  }

  /** A reference within the document. */
  #resolve(reference: string): unknown {
    if (!reference.startsWith("#") || reference.length > MAX_REFERENCE_CHARACTERS) return undefined;
    let found: unknown = this.#root;
    for (const step of reference.slice(1).split("/").slice(1)) {
      const key = decodePointer(step);
      found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    return found;
  }
}

function decodePointer(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}

function unite(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  return distinct.length === 0 ? "never" : distinct.includes("unknown") ? "unknown" : distinct.join(" | ");
}
