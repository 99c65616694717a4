/**
 * JSON Schema 2020-12 (https://json-schema.org/draft/2020-12) and draft-07, compiled once into closures: without
 * `eval`, which workerd forbids, and without reading the schema during validation. That is why it is no package: Ajv
 * compiles with `new Function`, and `@cfworker/json-schema`, as small, reads the schema each time and takes ten times as long.
 *
 * All keywords of both are supported. `format`, `contentEncoding`, `contentMediaType` and `contentSchema` are annotations,
 * as the standard says, and check nothing. Unknown keywords are annotations too (Core section 4.3.1), so a misspelled
 * keyword is not detected. References must stay inside the schema. Custom metaschemas and other dialects are refused.
 *
 * The author of the server writes schemas, callers send values: `run.ts` limits the work for a value, `document.ts` the
 * size of a schema, and `pattern.ts` says which patterns an author must not write.
 *
 * @module
 */
import { anyKeywords, combine } from "./any.ts";
import { arrayKeywords, compileItems, unevaluatedItems } from "./array.ts";
import { isUnknownInDraft7 } from "./dialect.ts";
import { Document, type Resource } from "./document.ts";
import { acceptAll, type Keyword, type KeywordContext } from "./keyword.ts";
import { compileProperties, unevaluatedProperties } from "./properties.ts";
import { objectKeywords } from "./object.ts";
import { invalidKeyword } from "./keyword_value.ts";
import { type Check, Run, type Violation } from "./run.ts";
import { numberKeywords, stringKeywords } from "./scalar.ts";
import { Evaluated } from "./evaluated.ts";
import { ARRAY, INTEGER, isObject, kindOf, KINDS, NUMBER, OBJECT, STRING, TYPES } from "./value.ts";
import { pointerStep } from "./message_text.ts";

export type { Violation } from "./run.ts";

/** A schema is an object of keywords, or `true` (anything) or `false` (nothing). */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

export interface SchemaOptions {
  /**
   * The maximum number of steps (schemas, properties and items) of one validation. It stops values that make nested
   * alternatives expensive on purpose. A step takes 10 to 100 ns.
   * @default 1000000
   */
  readonly steps?: number;
}

type SchemaObject = Readonly<Record<string, unknown>>;

/** The keywords, and the kinds of values to which they apply. */
const KEYWORDS = new Map<string, readonly [Keyword, readonly number[]]>(
  ([
    [stringKeywords, [STRING]],
    [numberKeywords, [INTEGER, NUMBER]],
    [arrayKeywords, [ARRAY]],
    [objectKeywords, [OBJECT]],
    [anyKeywords, KINDS],
  ] as const).flatMap(([keywords, kinds]) =>
    Object.entries(keywords).map(([name, compile]) => [name, [compile as Keyword, kinds]] as const)
  ),
);

const UNEVALUATED = [
  [ARRAY, "unevaluatedItems", unevaluatedItems],
  [OBJECT, "unevaluatedProperties", unevaluatedProperties],
] as const;

/**
 * Compiles a schema to a function that returns the violations of a value: at most 20, none when the value is valid.
 * @throws {TypeError} with the JSON Pointer of the invalid part
 */
export function compileSchema(
  schema: JsonSchema,
  options: SchemaOptions = {},
): (value: unknown) => readonly Violation[] {
  const compiler = new Compiler(schema);
  const check = compiler.compileAll();
  const { root, isDynamic } = compiler.document;
  return (value) => {
    const run = new Run(options.steps, isDynamic ? [root] : undefined);
    return run.violations(check(value, run, undefined));
  };
}

class Compiler {
  readonly document: Document;
  readonly #schema: JsonSchema;
  /** By schema; `undefined` while the schema is being compiled. */
  readonly #compiled = new Map<object, Check | undefined>();
  /** Targets of references are compiled later, so that a long chain of references does not need a deep stack. */
  readonly #pending: (() => void)[] = [];

  constructor(schema: JsonSchema) {
    this.#schema = schema;
    this.document = new Document(schema);
  }

  compileAll(): Check {
    const check = this.#compile(this.#schema, "#", this.document.root);
    for (const compile of this.#pending) compile();
    return check;
  }

  #compile(schema: unknown, at: string, from: Resource): Check {
    if (schema === true) return acceptAll;
    if (schema === false) return (_value, run) => run.report("is not allowed");
    if (!isObject(schema)) throw invalidKeyword(at, "a schema (an object or a boolean)", schema);
    const resource = this.document.resourceOf(schema, from);
    if (!this.#compiled.has(schema)) {
      this.#compiled.set(schema, undefined);
      this.#compiled.set(schema, this.#compileKeywords(this.#keywordsOf(schema, resource), at, resource));
    }
    const check = this.#compiled.get(schema) ??
      // The schema object contains itself, which is possible in JavaScript only.
      ((value, run, evaluated) => this.#compiled.get(schema)!(value, run, evaluated));
    return this.#enter(check, resource, from);
  }

  /** A check that adds its resource to the dynamic scope, if the schema has a `$dynamicRef`. */
  #enter(check: Check, resource: Resource, from: Resource): Check {
    if (!this.document.isDynamic || resource === from) return check;
    return (value, run, evaluated) => {
      run.scope!.push(resource);
      const fits = check(value, run, evaluated);
      run.scope!.pop();
      return fits;
    };
  }

  #compileKeywords(schema: SchemaObject, at: string, resource: Resource): Check {
    const context: KeywordContext = { schema, compile: (inner, at) => this.#compile(inner, at, resource) };
    const checks = KINDS.map((): Check[] => []);
    const add = (kinds: readonly number[], check: unknown) => {
      if (check) { for (const kind of kinds) checks[kind]!.push(check as Check); }
    };
    for (const keyword of Object.keys(schema)) {
      const [compile, kinds] = KEYWORDS.get(keyword)!;
      add(kinds, compile(schema[keyword], at + pointerStep(keyword), context));
    }
    add([ARRAY], compileItems(at, context));
    add([OBJECT], compileProperties(at, context));
    if (schema.$ref !== undefined) add(KINDS, this.#refer(schema.$ref, `${at}/$ref`, resource, false));
    if (schema.$dynamicRef !== undefined) {
      add(KINDS, this.#refer(schema.$dynamicRef, `${at}/$dynamicRef`, resource, true));
    }
    for (const [kind, keyword, compile] of UNEVALUATED) {
      if (schema[keyword] === undefined) continue;
      const others = compile(schema[keyword], `${at}/${keyword}`, context) as Check;
      checks[kind] = [withUnevaluated(combine(checks[kind]!), others)];
    }
    return byKind(schema.type, `${at}/type`, checks);
  }

  /** The keywords that check something, by their names in 2020-12. All others are annotations (Core section 4.3.1). */
  #keywordsOf(schema: SchemaObject, { isDraft7 }: Resource): SchemaObject {
    // Draft-07 section 8.3: other keywords beside $ref are ignored.
    if (isDraft7 && "$ref" in schema) return { $ref: schema.$ref };
    const keywords: Record<string, unknown> = {};
    for (const name of Object.keys(schema)) {
      const counts = KEYWORDS.has(name) && !(isDraft7 && isUnknownInDraft7(name));
      if (counts && schema[name] !== undefined) keywords[name] = schema[name];
    }
    // Draft-07 section 6.4: items as an array is prefixItems, and additionalItems is items.
    return isDraft7 && Array.isArray(keywords.items)
      ? { ...keywords, prefixItems: keywords.items, items: schema.additionalItems }
      : keywords;
  }

  /** The check of the target of a reference; a `$dynamicRef` may resolve to another target in the dynamic scope. */
  #refer(reference: unknown, at: string, from: Resource, dynamically: boolean): Check {
    const later = (schema: unknown, at: string): Check => {
      let check: Check;
      this.#pending.push(() => check = this.#compile(schema, at, from));
      return (value, run, evaluated) => check(value, run, evaluated);
    };
    const { schema, dynamic } = this.document.resolve(reference, from, at);
    const place = String(reference);
    const check = later(schema, place);
    if (!dynamically || !dynamic) return check;
    const checks = new Map([...dynamic].map(([resource, schema]) => [resource, later(schema, place)]));
    return (value, run, evaluated) => {
      const outermost = run.scope!.find((resource) => checks.has(resource));
      return (outermost ? checks.get(outermost)! : check)(value, run, evaluated);
    };
  }
}

/** A check that finds the kind of a value, and runs only the checks for this kind. */
function byKind(type: unknown, at: string, lists: readonly Check[][]): Check {
  const types: readonly unknown[] = type === undefined ? TYPES : Array.isArray(type) ? type : [type];
  if (types.length === 0 || !types.every((each) => TYPES.includes(each))) {
    throw invalidKeyword(at, `one of ${TYPES.join(", ")}, or an array of them`, type);
  }
  const message = `must be ${types.join(" or ")}`;
  const checks = KINDS.map((kind): Check =>
    type === undefined || types.includes(TYPES[kind]) || kind === INTEGER && types.includes("number")
      ? combine(lists[kind]!)
      : (value, run) => run.reportMismatch(message, value)
  );
  if (checks.every((check) => check === acceptAll)) return acceptAll;
  return (value, run, evaluated) => {
    if (!run.enter()) return false;
    const fits = checks[kindOf(value)]!(value, run, evaluated);
    run.depth--;
    return fits;
  };
}

/** A check, and then a check of what the first has not evaluated. */
function withUnevaluated(check: Check, others: Check): Check {
  return (value, run, outer) => {
    const evaluated = new Evaluated();
    // A failed schema evaluates nothing: its leftovers would be reported in addition to the real problem.
    if (!check(value, run, evaluated) || !others(value, run, evaluated)) return false;
    if (outer) outer.all = true;
    return true;
  };
}
