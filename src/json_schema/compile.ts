/**
 * JSON Schema 2020-12 (https://json-schema.org/draft/2020-12) compiled once into closures: no `eval`, which workerd
 * forbids, and no look at the schema while validating. References stay inside the schema. `format` is an
 * annotation, as the standard has it. `unevaluatedItems`, `unevaluatedProperties` and `$dynamicRef` are refused
 * when compiling: a keyword that is not checked is never passed over in silence.
 *
 * @module
 */
import { compileArray } from "./array.ts";
import {
  type Check,
  type Compile,
  expect,
  fits,
  MOST_VIOLATIONS,
  refuse,
  text,
  type Violation,
  wrongOperand,
} from "./check.ts";
import { compileObject } from "./object.ts";
import { compileScalar } from "./scalar.ts";
import { isObject, jsonEquals, typeOf } from "./value.ts";

/** A schema is an object of keywords, or `true` (anything) or `false` (nothing). */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

const DEEPEST = 128;

/** Keywords that say something about a schema and check nothing. */
const ANNOTATIONS = new Set(
  ("$schema $id $anchor $comment $defs $vocabulary definitions title description default examples deprecated " +
    "readOnly writeOnly format contentEncoding contentMediaType contentSchema x-mcp-header").split(" "),
);

/**
 * A function that lists what is wrong with a value, nothing when it fits.
 * @throws {TypeError} naming the pointer of what cannot be compiled
 */
export function compileSchema(schema: JsonSchema): (value: unknown) => readonly Violation[] {
  const compiled = new Map<unknown, Check>();
  const anchors = new Map<string, unknown>();
  collectAnchors(schema, anchors);

  const compile: Compile = (subschema, pointer) => {
    if (typeof subschema === "boolean") return subschema ? () => true : refuse("must not be here");
    if (!isObject(subschema)) {
      throw new TypeError(`Cannot compile schema at "${pointer}": it must be an object or a boolean`);
    }
    const known = compiled.get(subschema);
    if (known) return known;
    // Set before it is filled, so that a schema may refer to itself.
    let checks: readonly Check[] = [];
    const check: Check = (value, path, found, depth) => {
      if (depth > DEEPEST) return refuse("must not be nested so deeply")(value, path, found, depth);
      let fits = true;
      for (const one of checks) fits = one(value, path, found, depth + 1) && fits;
      return fits;
    };
    compiled.set(subschema, check);
    checks = compileKeywords(
      subschema,
      pointer,
      compile,
      (reference) => resolve(schema, anchors, reference, pointer),
    );
    return check;
  };

  const check = compile(schema, "#");
  return (value) => {
    const found: Violation[] = [];
    check(value, "", found, 0);
    return found.slice(0, MOST_VIOLATIONS);
  };
}

function compileKeywords(
  schema: Record<string, unknown>,
  pointer: string,
  compile: Compile,
  lookUp: (reference: string) => { target: unknown; pointer: string },
): Check[] {
  const checks: Check[] = [];
  for (const keyword of Object.keys(schema)) {
    const operand = schema[keyword];
    const at = `${pointer}/${keyword.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const check = compileKeyword(keyword, operand, schema, at, compile, lookUp);
    if (check) checks.push(check);
  }
  return checks;
}

function compileKeyword(
  keyword: string,
  operand: unknown,
  schema: Record<string, unknown>,
  at: string,
  compile: Compile,
  lookUp: (reference: string) => { target: unknown; pointer: string },
): Check | undefined {
  const list = () => {
    if (!Array.isArray(operand) || operand.length === 0) throw wrongOperand(at, "a list of schemas");
    return operand.map((each, i) => compile(each, `${at}/${i}`));
  };
  switch (keyword) {
    case "$ref": {
      const { target, pointer } = lookUp(text(operand, at));
      return compile(target, pointer);
    }
    case "type":
      return compileType(operand, at);
    case "const":
      return expect(`must be ${JSON.stringify(operand)}`, (value) => jsonEquals(value, operand));
    case "enum": {
      if (!Array.isArray(operand)) throw wrongOperand(at, "a list");
      const shown = operand.map((each) => JSON.stringify(each)).join(", ");
      return expect(`must be one of ${shown}`, (value) => operand.some((each) => jsonEquals(value, each)));
    }
    case "allOf": {
      const all = list();
      return (value, path, found, depth) =>
        all.map((check) => check(value, path, found, depth)).every(Boolean);
    }
    case "anyOf": {
      const any = list();
      const fail = refuse("must fit one of the alternatives");
      return (value, path, found, depth) =>
        any.some((check) => fits(check, value, path, depth)) || fail(value, path, found, depth);
    }
    case "oneOf": {
      const one = list();
      const fail = refuse("must fit exactly one of the alternatives");
      return (value, path, found, depth) =>
        one.filter((check) => fits(check, value, path, depth)).length === 1 ||
        fail(value, path, found, depth);
    }
    case "not": {
      const not = compile(operand, at);
      const fail = refuse("must not fit what is excluded");
      return (value, path, found, depth) => !fits(not, value, path, depth) || fail(value, path, found, depth);
    }
    case "if": {
      const condition = compile(operand, at);
      const then = compile(schema.then ?? true, at.replace(/if$/, "then"));
      const otherwise = compile(schema.else ?? true, at.replace(/if$/, "else"));
      return (value, path, found, depth) =>
        (fits(condition, value, path, depth) ? then : otherwise)(value, path, found, depth);
    }
    case "then":
    case "else":
      return undefined;
    default: {
      if (ANNOTATIONS.has(keyword)) return undefined;
      const check = compileScalar(keyword, operand, at) ??
        compileArray(keyword, operand, schema, at, compile) ??
        compileObject(keyword, operand, schema, at, compile);
      if (check === undefined) {
        throw new TypeError(`Cannot compile schema: the keyword at "${at}" is not supported`);
      }
      return check === "nothing" ? undefined : check;
    }
  }
}

function compileType(operand: unknown, at: string): Check {
  const types = Array.isArray(operand) ? operand : [operand];
  for (const type of types) {
    if (!/^(null|boolean|object|array|number|integer|string)$/.test(String(type))) {
      throw wrongOperand(at, "a type of JSON");
    }
  }
  return expect(`must be ${types.join(" or ")}`, (value) => {
    const type = typeOf(value);
    return types.includes(type) || type === "integer" && types.includes("number");
  });
}

function collectAnchors(schema: unknown, anchors: Map<string, unknown>): void {
  if (Array.isArray(schema)) { for (const each of schema) collectAnchors(each, anchors); }
  else if (isObject(schema)) {
    if (typeof schema.$anchor === "string") anchors.set("#" + schema.$anchor, schema);
    if (typeof schema.$id === "string") anchors.set(schema.$id, schema);
    for (const keyword of Object.keys(schema)) {
      if (keyword !== "const" && keyword !== "enum" && keyword !== "default" && keyword !== "examples") {
        collectAnchors(schema[keyword], anchors);
      }
    }
  }
}

/** The schema that a reference inside the document names; nothing is ever fetched. */
function resolve(
  root: unknown,
  anchors: ReadonlyMap<string, unknown>,
  reference: string,
  pointer: string,
): { target: unknown; pointer: string } {
  if (anchors.has(reference)) return { target: anchors.get(reference), pointer: reference };
  let target = root;
  const steps = reference === "#"
    ? []
    : reference.startsWith("#/")
    ? reference.slice(2).split("/")
    : undefined;
  for (const step of steps ?? []) {
    const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    target = typeof target === "object" && target !== null && Object.hasOwn(target, name)
      ? (target as Record<string, unknown>)[name]
      : undefined;
  }
  if (steps === undefined || target === undefined) {
    throw new TypeError(
      `Cannot compile schema at "${pointer}": "${reference}" names nothing inside the schema`,
    );
  }
  return { target, pointer: reference };
}
