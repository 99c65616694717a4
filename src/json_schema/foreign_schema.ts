/**
 * Compiles schemas of the other side: of an upstream of the gateway, or of the server of a client. Its author may be hostile,
 * and may send the values too, so patterns that may take long are not run, and not even parsed when they are large. A schema
 * that takes long to compile is not compiled.
 *
 * @module
 */
import { isRegularExpression, isSafePattern, MAX_PATTERN_CHARACTERS } from "./safe_pattern.ts";
import { compileSchema, type Violation } from "./compile.ts";
import { isObject } from "./value.ts";

/** Characters of all patterns of one schema that are parsed. */
const MAX_SCHEMA_PATTERN_CHARACTERS = 5000;
/** What one Unicode property escape (`\p{L}`) counts: engines build its set of characters while they parse. */
const PROPERTY_ESCAPE_CHARACTERS = 500;
/** Objects of one schema: to compile one takes about 10 µs. */
const MAX_OBJECTS = 2500;
/** Levels of objects and arrays, so that their number does not exceed the stack. Subschemas have a lower limit. */
const MAX_LEVELS = 500;
/** Members of all objects: one takes about 2 µs. */
const MAX_MEMBERS = 10_000;
/** Dynamic references times dynamic anchors: each may refer to each. */
const MAX_DYNAMIC_TARGETS = 2500;
/** Keywords by which a schema without one of its patterns may refuse what the whole schema accepts. */
const NARROWING = ["not", "if", "oneOf", "maxContains", "unevaluatedItems", "unevaluatedProperties"];

/**
 * Compiles a schema as {@linkcode compileSchema} does, without the patterns that may take long: these accept all texts.
 * Where that would make the schema narrower, nothing is checked. `undefined` for a schema that is too large to compile.
 * @throws {TypeError} with the JSON Pointer of the invalid part
 */
export function compileForeignSchema(
  schema: Readonly<Record<string, unknown>>,
): ((value: unknown) => readonly Violation[]) | undefined {
  const reader = new SchemaReader();
  const copy = reader.copy(schema) as Record<string, unknown>;
  if (reader.isTooLarge) return undefined;
  const validate = compileSchema(copy);
  return reader.isNarrower ? () => [] : validate;
}

class SchemaReader {
  #depth = 0;
  #objects = 0;
  #members = 0;
  #dynamicReferences = 0;
  #dynamicAnchors = 0;
  #charactersLeft = MAX_SCHEMA_PATTERN_CHARACTERS;
  #hasLoss = false;
  #hasNarrowing = false;

  /** Whether to compile the schema would take long. Then the copy is not complete. */
  get isTooLarge(): boolean {
    return this.#depth > MAX_LEVELS || this.#objects > MAX_OBJECTS || this.#members > MAX_MEMBERS ||
      this.#dynamicReferences * this.#dynamicAnchors > MAX_DYNAMIC_TARGETS;
  }

  get isNarrower(): boolean {
    return this.#hasLoss && this.#hasNarrowing;
  }

  /** A copy, complete unless the schema is too large. Every object in it may be a schema, since a reference may point to it. */
  copy(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    this.#depth++;
    const copy = this.#copyObject(value);
    // The depth stays where it is too large.
    if (!this.isTooLarge) this.#depth--;
    return copy;
  }

  #copyObject(value: object): unknown {
    this.#objects++;
    this.#members += Array.isArray(value) ? value.length : Object.keys(value).length;
    if (this.isTooLarge) return value;
    if (Array.isArray(value)) return value.map((each) => this.copy(each));
    const members: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      if (NARROWING.includes(name)) this.#hasNarrowing = true;
      if (name === "$dynamicRef") this.#dynamicReferences++;
      if (name === "$dynamicAnchor") this.#dynamicAnchors++;
      if (name === "pattern" && typeof member === "string") {
        members.push([name, this.#mayRun(member) ? member : ""]);
      } else if (name === "const" || name === "enum") {
        members.push([name, this.#copyConstant(member)]);
      } else if (name === "patternProperties" && isObject(member)) {
        const kept = Object.entries(member).filter(([pattern]) => this.#mayRun(pattern));
        // Without a pattern, other keywords apply to the properties that matched it.
        if (kept.length < Object.keys(member).length) this.#hasNarrowing = true;
        members.push([name, this.copy(Object.fromEntries(kept))]);
      } else members.push([name, this.copy(member)]);
    }
    // Not by assignment: a property may be called `__proto__`.
    return Object.fromEntries(members);
  }

  /** A constant is no schema, but a reference may make it one. */
  #copyConstant(value: unknown): unknown {
    const hadLoss = this.#hasLoss;
    this.#hasLoss = false;
    const copy = this.copy(value);
    // The copy may be another constant.
    if (this.#hasLoss) this.#hasNarrowing = true;
    this.#hasLoss ||= hadLoss;
    return copy;
  }

  /** Whether a pattern may stay: one that takes little time, or an invalid one, which the compiler refuses. */
  #mayRun(source: string): boolean {
    if (source.length <= MAX_PATTERN_CHARACTERS) {
      const escapes = source.match(/\\p/gi)?.length ?? 0;
      this.#charactersLeft -= source.length + PROPERTY_ESCAPE_CHARACTERS * escapes;
      if (this.#charactersLeft >= 0 && (isSafePattern(source) || !isRegularExpression(source))) return true;
    }
    this.#hasLoss = true;
    return false;
  }
}
