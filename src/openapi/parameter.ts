/**
 * The parameters of an operation (https://spec.openapis.org/oas/v3.1.1#parameter-object), each with the name of its
 * argument.
 *
 * @module
 */
import {
  type JsonObject,
  objectOf,
  type OpenApiDocument,
  OpenApiError,
  resolve,
  textOf,
} from "./document.ts";
import type { DescribedOperation } from "./operation.ts";
import { withoutBrackets } from "./security.ts";
import { type Style, STYLES } from "./serialize.ts";

export type Place = "path" | "query" | "header" | "cookie";

/** A parameter that the caller may set. */
export interface Parameter {
  /** The name of the argument: models allow fewer characters than HTTP. */
  readonly argument: string;
  readonly name: string;
  readonly place: Place;
  readonly isRequired: boolean;
  readonly style: Style;
  /** Whether the value is written as JSON (`content`). */
  readonly isJson: boolean;
  readonly description: string | undefined;
  readonly schema: unknown;
}

/** OpenAPI 3.1.1 section 4.8.12.1: these are not parameters. */
const IGNORED_HEADERS: readonly string[] = ["accept", "content-type", "authorization"];

/**
 * Header fields that decide about the connection, the credentials or the method of the request. A description that lets the
 * caller set them would let it leave the operation.
 */
const FORBIDDEN_HEADERS =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-(length|encoding)|expect|cookie2?|origin|referer|forwarded|via|date|proxy-.*|sec-.*|x-forwarded-.*|x-real-ip|x-http-method(-override)?|x-method-override|x-original-url|x-rewrite-url)$/i;

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * The parameters of an operation.
 * @param reserved places and names that credentials use, such as `header x-api-key`: callers do not set them
 * @throws {OpenApiError} for a required parameter that is not supported
 */
export function readParameters(
  document: OpenApiDocument,
  operation: DescribedOperation,
  reserved: ReadonlySet<string>,
): readonly Parameter[] {
  const found: Omit<Parameter, "argument">[] = [];
  for (const source of operation.parameters) {
    const place = source.in;
    const name = textOf(source.name);
    if (name === undefined || typeof place !== "string" || !Object.hasOwn(STYLES, place)) {
      throw new OpenApiError(
        `Parameter ${JSON.stringify(source.name)} in ${JSON.stringify(place)} is not supported`,
      );
    }
    const isHeader = place === "header";
    if (reserved.has(`${place} ${isHeader ? name.toLowerCase() : name}`)) continue;
    if (place === "query" && reserved.has(`query ${withoutBrackets(name)}`)) continue;
    if (isHeader && (IGNORED_HEADERS.includes(name.toLowerCase()) || FORBIDDEN_HEADERS.test(name))) continue;
    if ((isHeader || place === "cookie") && !TOKEN.test(name)) {
      throw new OpenApiError(`Parameter ${JSON.stringify(name)} is not a valid name of a ${place}`);
    }
    found.push(readParameter(document, source, name, place as Place));
  }
  checkPath(operation.path, found);
  return withArguments(found);
}

function readParameter(
  document: OpenApiDocument,
  source: JsonObject,
  name: string,
  place: Place,
): Omit<Parameter, "argument"> {
  const [type, content] = Object.entries(objectOf(source.content))[0] ?? [];
  const styles = STYLES[place]!;
  const style = source.style === undefined ? styles[0]! : String(source.style);
  if (!styles.includes(style)) {
    throw new OpenApiError(`Style "${style}" of the ${place} parameter "${name}" is not supported`);
  }
  const explode = typeof source.explode === "boolean" ? source.explode : style === "form";
  const description = [textOf(source.description), source.deprecated === true ? "Deprecated." : undefined]
    .filter(Boolean).join(" ");
  return {
    name,
    place,
    isRequired: place === "path" || source.required === true,
    style: { style, explode, allowReserved: place === "query" && source.allowReserved === true },
    isJson: type !== undefined && /^application\/json\b|\+json\b/i.test(type),
    description: description || undefined,
    schema: content === undefined ? source.schema : resolve(document, content).schema,
  };
}

/** Each variable of the path must be a parameter: otherwise the request would go to a path with braces in it. */
function checkPath(path: string, parameters: readonly Omit<Parameter, "argument">[]): void {
  const variables = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name!);
  const names = parameters.filter(({ place }) => place === "path").map(({ name }) => name);
  const unknown = variables.find((each) => !names.includes(each));
  if (unknown !== undefined) {
    throw new OpenApiError(`The path has a variable "${unknown}", but no such parameter`);
  }
  const unused = names.find((each) => !variables.includes(each));
  if (unused !== undefined) throw new OpenApiError(`The path has no variable for its parameter "${unused}"`);
}

/** The argument of the body. A parameter of this name gets another one. */
export const BODY_ARGUMENT = "body";
/** The interfaces of models allow these characters in the names of properties. */
const MAX_ARGUMENT_CHARACTERS = 64;

function withArguments(found: readonly Omit<Parameter, "argument">[]): Parameter[] {
  const base = (name: string) =>
    name.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "").slice(0, MAX_ARGUMENT_CHARACTERS - 8) ||
    "value";
  const counts = new Map([[BODY_ARGUMENT, 1]]);
  for (const { name } of found) counts.set(base(name), (counts.get(base(name)) ?? 0) + 1);
  const taken = new Set([BODY_ARGUMENT]);
  return found.map((parameter) => {
    const { name, place } = parameter;
    const plain = counts.get(base(name)) === 1 ? base(name) : `${base(name)}_${place}`;
    let argument = plain;
    for (let count = 2; taken.has(argument); count++) argument = `${plain}_${count}`;
    taken.add(argument);
    return { ...parameter, argument };
  });
}

/** The media types of `content`, with their objects. */
export function readContent(document: OpenApiDocument, content: unknown): readonly [string, JsonObject][] {
  return Object.entries(objectOf(content)).map(([type, value]) => [type, resolve(document, value)]);
}
