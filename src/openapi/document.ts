/**
 * An OpenAPI document: its version and the references within it (https://spec.openapis.org/oas/v3.1.1). Descriptions of
 * real services have mistakes, so values are read as what they are, and nothing of their shape is assumed.
 *
 * @module
 */
import { isObject } from "../json_schema/value.ts";

/** A document or a part of it cannot be used. The message says what to change. */
export class OpenApiError extends Error {
  override readonly name = "OpenApiError";
}

export type JsonObject = Readonly<Record<string, unknown>>;

export interface OpenApiDocument {
  readonly root: JsonObject;
  /** Whether schemas are those of OpenAPI 3.0, an older dialect of JSON Schema. */
  readonly isVersion30: boolean;
  /** `info.title`, or "API". */
  readonly title: string;
}

/** A chain of references that is longer is a cycle. */
const MAX_REFERENCES = 32;

/**
 * Checks the version of a document.
 * @throws {OpenApiError} for another version than 3.0, 3.1 and 3.2, or another value than an object
 */
export function readDocument(root: unknown): OpenApiDocument {
  if (!isObject(root)) throw new OpenApiError("Invalid OpenAPI document: it must be an object");
  if (root.swagger !== undefined) {
    throw new OpenApiError("Swagger 2.0 is not supported: convert the document to OpenAPI 3");
  }
  const version = typeof root.openapi === "string" ? root.openapi : "";
  if (!/^3\.[012](\.|$)/.test(version)) {
    throw new OpenApiError(
      `OpenAPI version ${JSON.stringify(root.openapi) ?? "(absent)"} is not supported: use 3.0, 3.1 or 3.2`,
    );
  }
  const info = objectOf(root.info);
  const title = typeof info.title === "string" && info.title.trim() !== "" ? info.title.trim() : "API";
  return { root, isVersion30: version.startsWith("3.0"), title };
}

/** Reads JSON, and other text by the caller's `parse`. @throws {OpenApiError} when it is neither */
export function parseText(given: string, parse: ((text: string) => unknown) | undefined): unknown {
  // Files of some tools begin with a byte order mark.
  const text = given.replace(/^\ufeff/, "");
  try {
    return JSON.parse(text);
  } catch {
    if (!parse) {
      throw new OpenApiError('The document is not JSON: pass a parser of YAML as "parse"');
    }
  }
  try {
    return parse(text);
  } catch (cause) {
    throw new OpenApiError("The document could not be parsed", { cause });
  }
}

/** By reference: some are in hundreds of schemas. */
const targets = new WeakMap<OpenApiDocument, Map<unknown, unknown>>();

/** The target of a reference within the document, any JSON Pointer (RFC 6901). @throws {OpenApiError} */
export function findTarget(document: OpenApiDocument, reference: unknown): unknown {
  let known = targets.get(document);
  if (!known) targets.set(document, known = new Map());
  const found = known.get(reference) ?? readPointer(document, reference);
  known.set(reference, found);
  return found;
}

/** @throws {OpenApiError} */
function readPointer({ root }: OpenApiDocument, reference: unknown): unknown {
  const shown = JSON.stringify(reference)?.slice(0, 200);
  if (typeof reference !== "string" || !/^#(\/|$)/.test(reference)) {
    throw new OpenApiError(
      `Reference ${shown} is not supported: only JSON Pointers within the document are, such as "#/components/schemas/Pet"`,
    );
  }
  let value: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const name = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
    value = Object.hasOwn(Object(value), name) ? (value as JsonObject)[name] : undefined;
  }
  if (value === undefined) throw new OpenApiError(`Unresolved reference ${shown}`);
  return value;
}

/**
 * The object itself, or the one that its `$ref` names: for path items, parameters, bodies, responses and the like.
 * @throws {OpenApiError} for a reference that cannot be resolved, or another value than an object
 */
export function resolve(document: OpenApiDocument, value: unknown): JsonObject {
  let found = value;
  for (let count = 0; isObject(found) && found.$ref !== undefined; count++) {
    if (count === MAX_REFERENCES) {
      throw new OpenApiError(`Circular reference ${JSON.stringify(found.$ref).slice(0, 200)}`);
    }
    found = findTarget(document, found.$ref);
  }
  if (!isObject(found)) throw new OpenApiError("Invalid OpenAPI document: expected an object");
  return found;
}

/** The object, or an empty one for any other value. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The array, or an empty one for any other value. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text without spaces around it; `undefined` for no text or an empty one. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
