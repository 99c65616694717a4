/**
 * Request bodies (https://spec.openapis.org/oas/v3.1.1#request-body-object): which media type is used, the schema of the
 * argument, and how its value is written.
 *
 * @module
 */
import { decodeBase64 } from "../crypto/base64.ts";
import { isObject } from "../json_schema/value.ts";
import { mediaType } from "../http/body/media_type.ts";
import {
  arrayOf,
  type JsonObject,
  objectOf,
  type OpenApiDocument,
  OpenApiError,
  resolve,
  textOf,
} from "./document.ts";
import { type Part, writeMultipart } from "./multipart.ts";
import { readContent } from "./parameter.ts";
import { ToolError } from "../mcp/definition/definition.ts";
import { nameCharactersLeft, toText, writeQuery } from "./serialize.ts";

/** How a body is written. */
export type BodyKind = "json" | "form" | "multipart" | "text" | "bytes";

export interface RequestBody {
  readonly kind: BodyKind;
  /** The value of Content-Type, except for multipart, which adds its boundary. */
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
  readonly schema: unknown;
  /** By property, for forms and multipart. */
  readonly encoding: Readonly<Record<string, Encoding>>;
}

interface Encoding {
  readonly type: string | undefined;
  readonly style: string | undefined;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  readonly isBinary: boolean;
}

/** Schemas that one is composed of; more are not looked at. */
const MAX_PARTS = 1000;
/** Values of a form, which the services that read forms limit too: a hundred thousand take seconds to write. */
const MAX_FORM_VALUES = 10_000;
/** The characters of the names of all values of a form: each value has its own. */
const MAX_NAME_CHARACTERS = 524_288;

/** In the order of preference. */
const KINDS: readonly BodyKind[] = ["json", "form", "multipart", "text", "bytes"];

function kindOf(type: string): BodyKind | undefined {
  const name = mediaType(type);
  if (/^application\/json$|\+json$|^(\*|application)\/\*$/.test(name)) return "json";
  if (name === "application/x-www-form-urlencoded") return "form";
  if (name === "multipart/form-data") return "multipart";
  if (isTextual(name)) return "text";
  return /^(application|image|audio|video|font)\//.test(name) ? "bytes" : undefined;
}

/** Whether a media type without parameters is text, other than JSON. */
export function isTextual(name: string): boolean {
  return /^text\/|^application\/(.*\+)?(xml|yaml|x-yaml|javascript|graphql|sql|toml)$|^application\/(x-)?ndjson$|^application\/jsonl$/
    .test(name);
}

/**
 * The body of an operation. That of GET and HEAD is left out (OpenAPI 3.0.4 section 4.7.10.1): `fetch` cannot send it.
 * @throws {OpenApiError} when no media type of the body is supported, or a body that cannot be sent is required
 */
export function readBody(
  document: OpenApiDocument,
  value: unknown,
  method: string,
): RequestBody | undefined {
  if (value === undefined) return undefined;
  const source = resolve(document, value);
  if (method === "GET" || method === "HEAD") {
    if (source.required !== true) return undefined;
    throw new OpenApiError(`A required body of ${method} is not supported`);
  }
  const content = readContent(document, source.content);
  // A body without content, as some descriptions of DELETE have, says nothing.
  if (content.length === 0) return undefined;
  for (const kind of KINDS) {
    const [type, media] = content.find(([type]) => kindOf(type) === kind) ?? [];
    if (type === undefined || !media) continue;
    return {
      kind,
      type: kind === "json" && type.includes("*") ? "application/json" : type,
      isRequired: source.required === true,
      description: textOf(source.description),
      schema: kind === "text" || kind === "bytes" ? textSchema(kind, type) : media.schema,
      encoding: kind === "form" || kind === "multipart" ? readEncoding(document, media) : {},
    };
  }
  const types = content.map(([type]) => type).join(", ");
  throw new OpenApiError(`No media type of the request body is supported: ${types}`);
}

function textSchema(kind: "text" | "bytes", type: string): JsonObject {
  const contentMediaType = mediaType(type);
  return kind === "text"
    ? { type: "string", contentMediaType }
    : { type: "string", contentEncoding: "base64", contentMediaType, description: "The bytes in base64." };
}

function readEncoding(document: OpenApiDocument, media: JsonObject): Readonly<Record<string, Encoding>> {
  const encodings = objectOf(media.encoding);
  const declared = partsOf(document, media.schema).map(({ properties }) => objectOf(properties));
  const names = new Set([...Object.keys(encodings), ...declared.flatMap((each) => Object.keys(each))]);
  return Object.fromEntries([...names].map((name) => {
    const own = objectOf(Object.hasOwn(encodings, name) ? encodings[name] : undefined);
    const schemas = declared.flatMap((each) => Object.hasOwn(each, name) ? [each[name]] : []);
    const style = textOf(own.style);
    const type = textOf(own.contentType)?.split(",")[0]?.trim();
    return [name, {
      type: type && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;[\x20-\x7e]*)?$/.test(type) ? type : undefined,
      style: ["form", "spaceDelimited", "pipeDelimited", "deepObject"].includes(style ?? "")
        ? style
        : undefined,
      explode: typeof own.explode === "boolean" ? own.explode : style === undefined || style === "form",
      allowReserved: own.allowReserved === true,
      isBinary: schemas.some((schema) => holdsBytes(document, schema)),
    }];
  }));
}

/** Whether values are bytes, or lists of them. One that may be text too, such as a URL, is sent as it is. */
function holdsBytes(document: OpenApiDocument, schema: unknown): boolean {
  const parts = partsOf(document, schema).flatMap((part) => [part, ...partsOf(document, part.items)]);
  return parts.some(isBinary) &&
    !parts.some((part) => [part.type].flat().includes("string") && !isBinary(part));
}

function isBinary({ format, contentEncoding, contentMediaType }: JsonObject): boolean {
  return format === "binary" || contentEncoding === "base64" ||
    contentMediaType === "application/octet-stream";
}

/**
 * A schema and those that it is composed of: an optional file is often `anyOf` of bytes and null, and the argument has base64
 * wherever the bytes are described.
 */
function partsOf(document: OpenApiDocument, value: unknown): readonly JsonObject[] {
  // The set grows while it is read. A schema may contain itself.
  const found = new Set([findObject(document, value)]);
  for (const schema of found) {
    for (const each of ["allOf", "anyOf", "oneOf"].flatMap((name) => arrayOf(schema[name]))) {
      if (found.size < MAX_PARTS) found.add(findObject(document, each));
    }
  }
  return [...found];
}

function findObject(document: OpenApiDocument, value: unknown): JsonObject {
  return isObject(value) ? resolve(document, value) : {};
}

/** The body and its Content-Type. @throws {ToolError} for a value that has no such form */
export function writeBody(
  body: RequestBody,
  value: unknown,
): { readonly type: string; readonly body: string | Uint8Array<ArrayBuffer> } {
  const { kind, type } = body;
  switch (kind) {
    case "json":
      return { type, body: JSON.stringify(value) };
    case "text":
      return { type, body: toText(value) };
    case "bytes":
      return { type, body: toBytes("body", value) };
    case "form":
      return {
        type,
        body: membersOf(value).flatMap(([name, each]) => formPairs(body, name, each)).join("&"),
      };
    case "multipart":
      return writeMultipart(membersOf(value).flatMap(([name, each]) => toParts(body, name, each)));
  }
}

/** The members of a form. @throws {ToolError} */
function membersOf(value: unknown): [string, unknown][] {
  if (!isObject(value)) throw new ToolError("Invalid arguments: body must be an object");
  const members = Object.entries(value).filter(([, each]) => each !== undefined && each !== null);
  if (members.reduce((left, [, each]) => valuesLeft(each, left), MAX_FORM_VALUES) < 0) {
    throw new ToolError(`Invalid arguments: body must have at most ${MAX_FORM_VALUES} values`);
  }
  if (
    members.reduce((left, [name, each]) => nameCharactersLeft(name.length, each, left), MAX_NAME_CHARACTERS) <
      0
  ) {
    throw new ToolError(
      `Invalid arguments: the names of all values of body must have at most ${MAX_NAME_CHARACTERS} characters`,
    );
  }
  return members;
}

/** How many of so many values are left after these; negative when they are too many. */
function valuesLeft(value: unknown, left: number): number {
  if (left < 0 || typeof value !== "object" || value === null) return left - 1;
  let rest = left - 1;
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    rest = valuesLeft(each, rest);
    if (rest < 0) break;
  }
  return rest;
}

const DEFAULT_ENCODING: Encoding = {
  type: undefined,
  style: undefined,
  explode: true,
  allowReserved: false,
  isBinary: false,
};

function encodingOf({ encoding }: RequestBody, name: string): Encoding {
  return Object.hasOwn(encoding, name) ? encoding[name]! : DEFAULT_ENCODING;
}

/** OpenAPI 3.1.1 section 4.8.15: an object without a style is JSON. */
function formPairs(body: RequestBody, name: string, value: unknown): string[] {
  const { style, explode, allowReserved } = encodingOf(body, name);
  return style === undefined && isObject(value)
    ? writeQuery(name, JSON.stringify(value), { style: "form", explode, allowReserved })
    : writeQuery(name, value, { style: style ?? "form", explode, allowReserved });
}

function toParts(body: RequestBody, name: string, value: unknown): Part[] {
  const { type, isBinary } = encodingOf(body, name);
  const values = Array.isArray(value) ? value : [value];
  return values.map((each): Part => {
    if (isBinary) {
      const content = toBytes(name, each);
      return { name, fileName: name, type: type ?? "application/octet-stream", content };
    }
    const isJson = typeof each === "object" && each !== null;
    return { name, type: type ?? (isJson ? "application/json" : undefined), content: toText(each) };
  });
}

function toBytes(name: string, value: unknown): Uint8Array<ArrayBuffer> {
  try {
    return decodeBase64(String(value));
  } catch {
    throw new ToolError(`Invalid arguments: "${name}" must be base64`);
  }
}
