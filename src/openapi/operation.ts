/**
 * The operations of a document (https://spec.openapis.org/oas/v3.1.1#operation-object), each with the members of its path
 * item, and the name of its tool.
 *
 * @module
 */
import { isObject } from "../json_schema/value.ts";
import {
  arrayOf,
  type JsonObject,
  objectOf,
  type OpenApiDocument,
  OpenApiError,
  resolve,
  textOf,
} from "./document.ts";

/** An operation, as `select` and `authorize` see it. */
export interface Operation {
  /** The name of the tool: a valid and unique form of `operationId`, or of method and path. */
  readonly name: string;
  readonly id: string | undefined;
  /** In upper case. */
  readonly method: string;
  /** The path template, such as `/pets/{petId}`. */
  readonly path: string;
  readonly tags: readonly string[];
  readonly isDeprecated: boolean;
}

/** An operation with its parts of the document. */
export interface DescribedOperation extends Operation {
  readonly source: JsonObject;
  /** Of the path item and the operation, with references resolved; those of the operation replace those of the path item. */
  readonly parameters: readonly JsonObject[];
  /** The servers of the operation or its path item, if it has its own. */
  readonly servers: readonly unknown[] | undefined;
}

/** An operation of which no tool is made, and why. */
export interface SkippedOperation {
  readonly method: string;
  readonly path: string;
  readonly reason: string;
}

/** OPTIONS and TRACE are about the server and the connection, not about what the service offers. */
const METHODS: readonly string[] = ["get", "head", "post", "put", "patch", "delete"];
const REFUSED_METHODS: readonly string[] = ["options", "trace", "query", "additionalOperations"];

/** Clients limit names more than MCP does, and a group may add a prefix. */
const MAX_NAME_CHARACTERS = 64;

/** All operations in the order of the document. Names do not depend on that order, nor on what is selected. */
export function listOperations(
  document: OpenApiDocument,
): { readonly operations: readonly DescribedOperation[]; readonly skipped: readonly SkippedOperation[] } {
  const found: Omit<DescribedOperation, "name">[] = [];
  const skipped: SkippedOperation[] = [];
  for (const [path, value] of Object.entries(objectOf(document.root.paths))) {
    if (!path.startsWith("/")) continue;
    let item: JsonObject;
    try {
      item = resolve(document, value);
    } catch (error) {
      skipped.push({ method: "*", path, reason: reasonOf(error) });
      continue;
    }
    for (const method of REFUSED_METHODS) {
      if (item[method] !== undefined) {
        skipped.push({ method: method.toUpperCase(), path, reason: `"${method}" is not supported` });
      }
    }
    for (const method of METHODS) {
      const source = item[method];
      if (!isObject(source)) continue;
      try {
        found.push({
          id: textOf(source.operationId),
          method: method.toUpperCase(),
          path,
          tags: arrayOf(source.tags).filter((each) => typeof each === "string"),
          isDeprecated: source.deprecated === true,
          source,
          parameters: mergeParameters(document, item.parameters, source.parameters),
          servers: [source.servers, item.servers].find((each) => Array.isArray(each) && each.length > 0) as
            | readonly unknown[]
            | undefined,
        });
      } catch (error) {
        skipped.push({ method: method.toUpperCase(), path, reason: reasonOf(error) });
      }
    }
  }
  return { operations: withNames(found), skipped };
}

/** The message for the operator. @throws the error itself when it is no problem of the document */
export function reasonOf(error: unknown): string {
  if (error instanceof OpenApiError) return error.message;
  throw error;
}

/** OpenAPI 3.1.1 section 4.8.9: a parameter is identified by its name and place. */
function mergeParameters(document: OpenApiDocument, ...lists: readonly unknown[]): JsonObject[] {
  const merged = new Map<string, JsonObject>();
  for (const value of lists.flatMap(arrayOf)) {
    const parameter = resolve(document, value);
    merged.set(JSON.stringify([parameter.in, parameter.name]), parameter);
  }
  return [...merged.values()];
}

function withNames(found: readonly Omit<DescribedOperation, "name">[]): DescribedOperation[] {
  const bases = found.map(({ id, method, path }) => toName(id ?? `${method.toLowerCase()}${path}`));
  const counts = new Map<string, number>();
  // Some clients compare names without regard to case.
  for (const base of bases) counts.set(base.toLowerCase(), (counts.get(base.toLowerCase()) ?? 0) + 1);
  return found.map((operation, at) => {
    const base = bases[at]!;
    const isUnique = counts.get(base.toLowerCase()) === 1 && base.length <= MAX_NAME_CHARACTERS;
    if (isUnique) return { ...operation, name: base };
    const suffix = digest(`${operation.method} ${operation.path}`);
    return { ...operation, name: `${base.slice(0, MAX_NAME_CHARACTERS - suffix.length - 1)}_${suffix}` };
  });
}

/** Letters, digits, "_" and "-": what MCP and the interfaces of models allow in names of tools. */
function toName(text: string): string {
  return text.replace(/[^A-Za-z0-9-]+/g, "_").replace(/^_+|_+$/g, "") || "operation";
}

/** 64 bits of FNV-1a in base 36: enough to tell the operations of one document apart. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = (hash ^ BigInt(byte)) * 0x100000001b3n & 0xffffffffffffffffn;
  }
  return hash.toString(36).slice(-8);
}
