/**
 * JSON Schema 2020-12 (https://json-schema.org/draft/2020-12) and draft-07, compiled once into closures: no `eval`,
 * which workerd forbids, and no look at the schema while validating.
 *
 * All keywords of both are there. `format`, `contentEncoding`, `contentMediaType` and `contentSchema` are annotations, as
 * the standard has them, and check nothing; so are keywords that are not known (Core section 4.3.1): a slip of the pen in
 * a keyword's name is not noticed. References stay inside the schema. Metaschemas of one's own and other dialects are
 * refused when compiling.
 *
 * A schema is the operator's, a value a stranger's: run.ts bounds what a value may cost, document.ts what a schema may
 * hold, and pattern.ts says what its author must not write.
 *
 * @module
 */
import { anyKeywords, together } from "./any.ts";
import { arrayKeywords, compileItems, unevaluatedItems } from "./array.ts";
import { isLater } from "./dialect.ts";
import { Document, type Resource } from "./document.ts";
import { type Keyword, pass, type Surroundings } from "./keyword.ts";
import { compileMembers, unevaluatedProperties } from "./members.ts";
import { objectKeywords } from "./object.ts";
import { operandError } from "./operand.ts";
import { type Check, Run, type Violation } from "./run.ts";
import { numberKeywords, stringKeywords } from "./scalar.ts";
import { Seen } from "./seen.ts";
import { ARRAY, INTEGER, isObject, kindOf, KINDS, NUMBER, OBJECT, STRING, TYPES } from "./value.ts";
import { pointerStep } from "./words.ts";

export type { Violation } from "./run.ts";

/** A schema is an object of keywords, or `true` (anything) or `false` (nothing). */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

export interface SchemaOptions {
  /**
   * How many schemas, members and items one validation may look at before it refuses the value. It stops values that fit
   * a schema of nested alternatives badly on purpose; a step takes ten to a hundred nanoseconds.
   * @default 1000000
   */
  readonly steps?: number;
}

type Operands = Readonly<Record<string, unknown>>;

/** Keywords, and the kinds of values that they are about. */
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
 * A function that lists what is wrong with a value, at most 20 things, and nothing when it fits.
 * @throws {TypeError} naming the pointer of what cannot be compiled
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
  /** What is being compiled has no check yet. */
  readonly #compiled = new Map<object, Check | undefined>();
  /** What references mean is compiled when what refers to it is done: so a long chain takes no deep stack. */
  readonly #waiting: (() => void)[] = [];

  constructor(schema: JsonSchema) {
    this.#schema = schema;
    this.document = new Document(schema);
  }

  compileAll(): Check {
    const check = this.#compile(this.#schema, "#", this.document.root);
    for (const compile of this.#waiting) compile();
    return check;
  }

  #compile(schema: unknown, at: string, from: Resource): Check {
    if (schema === true) return pass;
    if (schema === false) return (_value, run) => run.refuse("is not allowed");
    if (!isObject(schema)) throw operandError(at, "a schema (an object or a boolean)", schema);
    const resource = this.document.resourceOf(schema, from);
    if (!this.#compiled.has(schema)) {
      this.#compiled.set(schema, undefined);
      this.#compiled.set(schema, this.#compileKeywords(this.#keywordsOf(schema, resource), at, resource));
    }
    const check = this.#compiled.get(schema) ??
      // An object that is inside itself, as no JSON text can be.
      ((value, run, seen) => this.#compiled.get(schema)!(value, run, seen));
    return this.#enter(check, resource, from);
  }

  /** A check that puts its resource into the dynamic scope, where somebody looks at that. */
  #enter(check: Check, resource: Resource, from: Resource): Check {
    if (!this.document.isDynamic || resource === from) return check;
    return (value, run, seen) => {
      run.scope!.push(resource);
      const fits = check(value, run, seen);
      run.scope!.pop();
      return fits;
    };
  }

  #compileKeywords(schema: Operands, at: string, resource: Resource): Check {
    const around: Surroundings = { schema, compile: (inner, at) => this.#compile(inner, at, resource) };
    const checks = KINDS.map((): Check[] => []);
    const add = (kinds: readonly number[], check: unknown) => {
      if (check) { for (const kind of kinds) checks[kind]!.push(check as Check); }
    };
    for (const keyword of Object.keys(schema)) {
      const [compile, kinds] = KEYWORDS.get(keyword)!;
      add(kinds, compile(schema[keyword], at + pointerStep(keyword), around));
    }
    add([ARRAY], compileItems(at, around));
    add([OBJECT], compileMembers(at, around));
    if (schema.$ref !== undefined) add(KINDS, this.#refer(schema.$ref, `${at}/$ref`, resource, false));
    if (schema.$dynamicRef !== undefined) {
      add(KINDS, this.#refer(schema.$dynamicRef, `${at}/$dynamicRef`, resource, true));
    }
    for (const [kind, keyword, compile] of UNEVALUATED) {
      if (schema[keyword] === undefined) continue;
      const others = compile(schema[keyword], `${at}/${keyword}`, around) as Check;
      checks[kind] = [withUnevaluated(together(checks[kind]!), others)];
    }
    return byKind(schema.type, `${at}/type`, checks);
  }

  /** The keywords that check something, as 2020-12 names them. All others say something (Core section 4.3.1). */
  #keywordsOf(schema: Operands, { isDraft7 }: Resource): Operands {
    // Draft-07 section 8.3: beside a $ref nothing counts.
    if (isDraft7 && "$ref" in schema) return { $ref: schema.$ref };
    const keywords: Record<string, unknown> = {};
    for (const name of Object.keys(schema)) {
      const counts = KEYWORDS.has(name) && !(isDraft7 && isLater(name));
      if (counts && schema[name] !== undefined) keywords[name] = schema[name];
    }
    // Draft-07 section 6.4: items was prefixItems when it was a list, and additionalItems was items.
    return isDraft7 && Array.isArray(keywords.items)
      ? { ...keywords, prefixItems: keywords.items, items: schema.additionalItems }
      : keywords;
  }

  /** The check of what a reference means, or of what stands in for it in the dynamic scope. */
  #refer(reference: unknown, at: string, from: Resource, dynamically: boolean): Check {
    const later = (schema: unknown, at: string): Check => {
      let check: Check;
      this.#waiting.push(() => check = this.#compile(schema, at, from));
      return (value, run, seen) => check(value, run, seen);
    };
    const { schema, dynamic } = this.document.resolve(reference, from, at);
    const place = String(reference);
    const check = later(schema, place);
    if (!dynamically || !dynamic) return check;
    const checks = new Map([...dynamic].map(([resource, schema]) => [resource, later(schema, place)]));
    return (value, run, seen) => {
      const outermost = run.scope!.find((resource) => checks.has(resource));
      return (outermost ? checks.get(outermost)! : check)(value, run, seen);
    };
  }
}

/** A check that first asks for the kind of a value, and then makes only the checks for this kind. */
function byKind(type: unknown, at: string, lists: readonly Check[][]): Check {
  const types: readonly unknown[] = type === undefined ? TYPES : Array.isArray(type) ? type : [type];
  if (types.length === 0 || !types.every((each) => TYPES.includes(each))) {
    throw operandError(at, `one of ${TYPES.join(", ")}, or an array of them`, type);
  }
  const message = `must be ${types.join(" or ")}`;
  const checks = KINDS.map((kind): Check =>
    type === undefined || types.includes(TYPES[kind]) || kind === INTEGER && types.includes("number")
      ? together(lists[kind]!)
      : (value, run) => run.refuseFor(message, value)
  );
  if (checks.every((check) => check === pass)) return pass;
  return (value, run, seen) => {
    if (!run.enter()) return false;
    const fits = checks[kindOf(value)]!(value, run, seen);
    run.depth--;
    return fits;
  };
}

/** A check, and then one of what it has not seen. */
function withUnevaluated(check: Check, others: Check): Check {
  return (value, run, outer) => {
    const seen = new Seen();
    // What a schema has left that did not fit is no fault of its own.
    if (!check(value, run, seen) || !others(value, run, seen)) return false;
    if (outer) outer.all = true;
    return true;
  };
}
