/**
 * Makes the request of a call: address, header fields and body from the arguments. The arguments are chosen by a model, so
 * whatever they are, the request goes to the origin and the path of the operation.
 *
 * @module
 */
import { ToolError } from "../mcp/definition/definition.ts";
import { isObject } from "../json_schema/value.ts";
import { type RequestBody, writeBody } from "./body.ts";
import { BODY_ARGUMENT, type Parameter } from "./parameter.ts";
import { withoutBrackets } from "./security.ts";
import { encode, nameCharactersLeft, toText, writeHeader, writePath, writeQuery } from "./serialize.ts";

/** What the request of an operation is made from. */
export interface RequestPlan {
  readonly method: string;
  /** The path template. */
  readonly path: string;
  /** The address of the server; its path ends in "/". */
  readonly address: URL;
  readonly parameters: readonly Parameter[];
  /** Names in the query that callers do not choose: those of credentials and parameters, in lower case. */
  readonly takenQueryNames: ReadonlySet<string>;
  readonly body: RequestBody | undefined;
  /** The value of Accept. */
  readonly accept: string;
}

/** A request without credentials. */
export interface PlannedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly cookies: readonly string[];
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;

/** Longer addresses are refused by servers, in less clear words. */
const MAX_URL_CHARACTERS = 16_384;
const MAX_HEADER_CHARACTERS = 8192;

/** @throws {ToolError} for an argument that cannot be sent */
export function planRequest(plan: RequestPlan, given: Arguments): PlannedRequest {
  const headers: Record<string, string> = { accept: plan.accept };
  const query: string[] = [];
  const cookies: string[] = [];
  const segments = new Map<string, string>();
  for (const parameter of plan.parameters) {
    const { argument, name, place, isJson, style } = parameter;
    const argumentValue = Object.hasOwn(given, argument) ? given[argument] : undefined;
    if (argumentValue === undefined || argumentValue === null) {
      if (!parameter.isRequired) continue;
      throw new ToolError(`Invalid arguments: "${argument}" is required`);
    }
    checkLength(parameter, argumentValue);
    const value = isJson ? JSON.stringify(argumentValue) : argumentValue;
    switch (place) {
      case "path":
        segments.set(name, writePathValue(parameter, value));
        break;
      case "query":
        checkQueryNames(parameter, value, plan.takenQueryNames);
        query.push(...writeQuery(name, value, style));
        break;
      case "header":
        headers[name.toLowerCase()] = checkHeader(argument, writeHeader(value, style.explode));
        break;
      case "cookie":
        cookies.push(...writeCookie(name, value, style.explode));
        break;
    }
  }
  const bodyValue = Object.hasOwn(given, BODY_ARGUMENT) ? given[BODY_ARGUMENT] : undefined;
  const written = plan.body && bodyValue !== undefined ? writeBody(plan.body, bodyValue) : undefined;
  if (written) headers["content-type"] = written.type;
  return {
    method: plan.method,
    url: toUrl(plan, segments, query),
    headers,
    cookies,
    body: written?.body,
  };
}

/** Before it is written: to encode and to decode megabytes takes seconds. @throws {ToolError} */
function checkLength({ argument, name, place, style }: Parameter, value: unknown): void {
  const isField = place === "header" || place === "cookie";
  const isShort = charactersLeft(value, isField ? MAX_HEADER_CHARACTERS : MAX_URL_CHARACTERS) >= 0;
  const isDeep = style.style === "deepObject";
  if (isShort && !(isDeep && nameCharactersLeft(name.length, value, MAX_URL_CHARACTERS) < 0)) return;
  throw isField ? invalidHeader(argument) : urlTooLong();
}

/** The characters without the least that are written for a value. */
function charactersLeft(value: unknown, left: number): number {
  if (typeof value === "string") return left - value.length;
  if (typeof value !== "object" || value === null) return left - 1;
  const names = Array.isArray(value) ? undefined : Object.keys(value);
  // Empty texts and lists have no characters, but what separates them.
  let separator = 0;
  for (const each of names ?? value as readonly unknown[]) {
    const member = names ? (value as Record<string, unknown>)[each as string] : each;
    // Absent members are not written, except in JSON.
    if (names && (member === undefined || member === null)) continue;
    left = charactersLeft(member, left - separator - (names ? (each as string).length : 0));
    separator = 1;
    if (left < 0) return left;
  }
  return left;
}

/** The members of an exploded object are parameters, and none may stand for another one or for a credential. */
function checkQueryNames(
  { argument, name, style }: Parameter,
  value: unknown,
  taken: RequestPlan["takenQueryNames"],
): void {
  if (!style.explode || style.style !== "form" || !isObject(value)) return;
  const found = Object.keys(value).find((each) =>
    each !== name && (taken.has(each.toLowerCase()) || taken.has(withoutBrackets(each.toLowerCase())))
  );
  if (found !== undefined) {
    throw new ToolError(`Invalid arguments: "${argument}" must not have the member "${found}"`);
  }
}

/**
 * An empty value would name another resource (`/pets/` is all pets). A server may decode a path more than once and resolve
 * dot segments in it, so no part of a value may be one, however often it is encoded.
 */
function writePathValue({ argument, name, style }: Parameter, value: unknown): string {
  const written = writePath(name, value, style);
  // An empty item writes an empty segment, or an item that servers leave out: `a,,b` may be `a,b`.
  const items = typeof value === "object" && value !== null ? Object.values(value) : [value];
  if (items.length === 0 || items.some((item) => toText(item ?? "") === "")) {
    throw new ToolError(`Invalid arguments: "${argument}" must not be empty`);
  }
  let decoded = written;
  for (let count = 0; count < 5; count++) {
    if (hasDotSegment(decoded)) {
      throw new ToolError(
        `Invalid arguments: "${argument}" must not contain "." or ".." as a part of a path, nor control characters`,
      );
    }
    const next = decodeLeniently(decoded);
    if (next === decoded) return written;
    decoded = next;
  }
  throw new ToolError(`Invalid arguments: "${argument}" is percent-encoded too often`);
}

function hasDotSegment(text: string): boolean {
  // Servers of Java drop what follows ";" in a segment.
  // deno-lint-ignore no-control-regex
  return /[\0-\x1f\x7f]/.test(text) || text.split(/[/\\?#]/).some((part) => /^\.{1,2}(;|$)/.test(part));
}

function decodeLeniently(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}/g, (escape) => String.fromCharCode(parseInt(escape.slice(1), 16)));
}

/** A field cannot end early: no line break, no other control character, and only characters that HTTP has. */
function checkHeader(argument: string, value: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value) || value.length > MAX_HEADER_CHARACTERS) {
    throw invalidHeader(argument);
  }
  return value.trim();
}

function invalidHeader(argument: string): ToolError {
  return new ToolError(
    `Invalid arguments: "${argument}" must have at most ${MAX_HEADER_CHARACTERS} characters of Latin-1, without line breaks`,
  );
}

function urlTooLong(): ToolError {
  return new ToolError(
    `Invalid arguments: they make an address of more than ${MAX_URL_CHARACTERS} characters`,
  );
}

function writeCookie(name: string, value: unknown, explode: boolean): string[] {
  if (Array.isArray(value) && explode) return value.map((each) => `${name}=${encode(toText(each))}`);
  if (typeof value === "object" && value !== null) return [`${name}=${encode(writeHeader(value, false))}`];
  return [`${name}=${encode(toText(value))}`];
}

/** @throws {ToolError} when the address would not be below that of the server */
function toUrl(
  { address, path }: RequestPlan,
  segments: ReadonlyMap<string, string>,
  query: readonly string[],
): URL {
  const written = path.slice(1).split(/(\{[^{}]*\})/).map((part, at) =>
    at % 2 === 1 ? segments.get(part.slice(1, -1))! : part.replaceAll("?", "%3F").replaceAll("#", "%23")
  ).join("");
  const text = `${address.origin}${address.pathname}${written}${
    query.length > 0 ? `?${query.join("&")}` : ""
  }`;
  if (text.length > MAX_URL_CHARACTERS) throw urlTooLong();
  const url = new URL(text);
  // `URL` resolves dot segments: such a path is not the one of the operation. The checks above leave none.
  const isUnchanged = url.origin === address.origin && url.pathname.length >= address.pathname.length &&
    url.pathname.startsWith(address.pathname) && !/(^|\/)(\.|%2e){1,2}(\/|$)/i.test(`/${written}`);
  if (!isUnchanged) {
    throw new ToolError("Invalid arguments: they lead to another path than that of the operation");
  }
  return url;
}
