/**
 * The schemas of one tool, with the definitions that they refer to, within a limit of bytes: a client gives the schemas to
 * a model, which pays for each character. What does not fit is replaced by a wider schema; the API checks what comes.
 *
 * @module
 */
import { isObject } from "../json_schema/value.ts";
import { truncate } from "../json_schema/message_text.ts";
import { findTarget, type OpenApiDocument } from "./document.ts";
import { convertSchema, type Direction } from "./schema.ts";

export type JsonSchemaObject = Record<string, unknown>;

/** Depths that are tried, from the complete schema to its first level. */
const DEPTHS: readonly number[] = [40, 8, 5, 3, 2, 1];
/** Subschemas of one conversion. A document whose references were replaced by their targets may contain itself. */
const MAX_SUBSCHEMAS = 4000;
/**
 * Subschemas of all conversions that do not fit. A document can refer to many large definitions from every operation, and
 * each would be converted only to find that it is too large.
 */
const MAX_UNFIT_SUBSCHEMAS = 20_000;

export class SchemaBundle {
  /** Whether a schema was replaced by a wider one. */
  isWidened = false;
  readonly #document: OpenApiDocument;
  readonly #direction: Direction;
  #left: number;
  /** What may still be converted. Of what fits, a subschema takes at least one of the bytes. */
  #subschemas: number;
  /** The names of definitions by reference, in the order of their first use. */
  readonly #names = new Map<string, string>();
  readonly #used = new Set<string>();

  /** @param maxBytes of all schemas together, as JSON (counted in UTF-16 code units) */
  constructor(document: OpenApiDocument, direction: Direction, maxBytes: number) {
    this.#document = document;
    this.#direction = direction;
    this.#left = maxBytes;
    this.#subschemas = maxBytes + MAX_UNFIT_SUBSCHEMAS;
  }

  /** Converts a schema; its references lead to {@linkcode definitions}. @throws {OpenApiError} */
  add(source: unknown): JsonSchemaObject {
    const converted = this.#convert(source, DEPTHS);
    for (const reference of converted?.references ?? []) this.#used.add(reference);
    return converted?.schema ?? summarize(source);
  }

  /** The value of `$defs`: what the schemas refer to, those first that are nearest. @throws {OpenApiError} */
  definitions(): JsonSchemaObject | undefined {
    const definitions: [string, unknown][] = [];
    // The set grows while it is read.
    for (const reference of this.#used) {
      const target = findTarget(this.#document, reference);
      const converted = this.#convert(target, [DEPTHS[0]!, 2]);
      for (const each of converted?.references ?? []) this.#used.add(each);
      definitions.push([this.#nameOf(reference), converted?.schema ?? summarize(target)]);
    }
    return definitions.length > 0 ? Object.fromEntries(definitions) : undefined;
  }

  /** The conversion with the greatest depth that fits in what is left. */
  #convert(
    source: unknown,
    depths: readonly number[],
  ): { schema: JsonSchemaObject; references: readonly string[] } | undefined {
    for (const [at, maxDepth] of depths.entries()) {
      if (this.#subschemas <= 0) {
        this.isWidened = true;
        break;
      }
      const references: string[] = [];
      const budget = { subschemas: Math.min(MAX_SUBSCHEMAS, this.#subschemas) };
      this.#subschemas -= budget.subschemas;
      const converted = convertSchema(source, {
        document: this.#document,
        direction: this.#direction,
        maxDepth,
        budget,
        losses: { count: 0 },
        refer: (reference) => {
          references.push(reference);
          return `#/$defs/${this.#nameOf(reference)}`;
        },
      });
      this.#subschemas += Math.max(0, budget.subschemas);
      const schema = converted === true ? {} : converted === false ? { not: {} } : converted;
      const size = JSON.stringify(schema).length;
      this.isWidened ||= at > 0 || size > this.#left || budget.subschemas < 0;
      if (size > this.#left) continue;
      this.#left -= size;
      return { schema, references };
    }
    return undefined;
  }

  #nameOf(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const last = reference.slice(reference.lastIndexOf("/") + 1);
    const base = last.replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.-]+/g, "_").slice(0, 80) || "root";
    const taken = new Set(this.#names.values());
    let name = base;
    for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
    this.#names.set(reference, name);
    return name;
  }
}

/** What is left of a definition that does not fit. */
function summarize(target: unknown): JsonSchemaObject {
  if (!isObject(target)) return {};
  const { type, title, description } = target;
  return {
    ...(["object", "string", "array", "number", "integer", "boolean"].includes(type as string) &&
      target.nullable !== true && { type }),
    ...(typeof title === "string" && { title: truncate(title, 100) }),
    ...(typeof description === "string" && { description: truncate(description, 100) }),
  };
}
