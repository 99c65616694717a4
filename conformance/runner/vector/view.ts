/**
 * Converts a response to the view that expectations and captures read (`FORMAT.md` section 3).
 *
 * @module
 */
import { sha256, toHex, toStrictText, toText } from "../exchange/bytes.ts";
import { EventReader } from "../exchange/event_reader.ts";
import type { BrokenExchange, HeaderField, HttpResponse } from "../exchange/exchange.ts";
import { decodeEntities } from "./entities.ts";
import { collectValues, parseJson, toParameters } from "./match.ts";
import { parsePage } from "../target/page.ts";
import { isJsonObject, type JsonObject } from "./vector_file.ts";

export type View = JsonObject;

/** @param url of the request; `location` is resolved against it */
export async function toView(
  response: Partial<HttpResponse>,
  url: string,
  broken?: BrokenExchange,
): Promise<View> {
  const view: Record<string, unknown> = { url };
  if (broken) Object.assign(view, { broken: broken.kind, why: broken.message });
  if (response.status !== undefined) view["status"] = response.status;
  const fields = response.fields ?? [];
  const headers = joinFields(fields);
  view["headers"] = headers;
  view["cookies"] = Object.fromEntries(
    fields.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => parseCookie(value)),
  );
  const location = headers["location"];
  if (location !== undefined) view["redirect"] = toRedirect(location, url);
  if (response.body !== undefined) {
    const body = toText(response.body);
    Object.assign(view, { body, size: response.body.length, sha256: toHex(await sha256(response.body)) });
    const text = toStrictText(response.body);
    const json = text === undefined ? undefined : parseJson(text);
    if (json !== undefined) view["json"] = json;
    if (isEventStream(fields)) {
      const events = new EventReader().push(response.body);
      view["events"] = events;
      view["messages"] = events.map((event) => event["json"]).filter((each) => each !== undefined);
    } else if (json !== undefined) view["messages"] = [json];
    if (isHtml(fields)) view["forms"] = toForms(body, url);
  }
  return view;
}

/** Whether this is the response to a JSON-RPC request, and neither a request nor a notification of the server. */
export function isResponse(value: unknown): value is JsonObject {
  return isJsonObject(value) && !("method" in value) && ("result" in value || "error" in value);
}

/** Header fields by lower-case name, repeated ones joined, without `set-cookie`. */
function joinFields(fields: readonly HeaderField[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [written, value] of fields) {
    const name = written.toLowerCase();
    if (name === "set-cookie") continue;
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** Whether the body is `text/event-stream`. */
export function isEventStream(fields: readonly HeaderField[]): boolean {
  return /^text\/event-stream\b/i.test(joinFields(fields)["content-type"] ?? "");
}

function isHtml(fields: readonly HeaderField[]): boolean {
  return /^(?:text\/html|application\/xhtml\+xml)\b/i.test(joinFields(fields)["content-type"] ?? "");
}

/** The forms of a page, as a browser sends them: HTML may be written in many ways. */
function toForms(page: string, base: string): JsonObject[] {
  return parsePage(page).forms.map(({ action = "", method, fields }) => ({
    action: URL.parse(action, base)?.href ?? action,
    method,
    fields: collectValues(fields),
  }));
}

/** Parses `Set-Cookie`: the name, and the value with the attributes (RFC 6265 section 5.2). */
export function parseCookie(field: string): [name: string, cookie: Readonly<Record<string, string | true>>] {
  const [pair = "", ...attributes] = field.split(";");
  const equals = pair.indexOf("=");
  const cookie: Record<string, string | true> = { value: pair.slice(equals + 1).trim() };
  for (const attribute of attributes) {
    const at = attribute.indexOf("=");
    const name = (at < 0 ? attribute : attribute.slice(0, at)).trim().toLowerCase();
    if (name !== "value" && name !== "") cookie[name] = at < 0 ? true : attribute.slice(at + 1).trim();
  }
  return [pair.slice(0, Math.max(equals, 0)).trim(), cookie];
}

/** The view's `redirect`: a `Location`, resolved and split into parts. */
export function toRedirect(location: string, base: string): JsonObject {
  const url = URL.parse(location, base);
  if (!url) return { to: location, query: {}, fragment: {} };
  const query = toParameters(url.search);
  const fragment = toParameters(url.hash);
  url.search = "";
  url.hash = "";
  return { to: url.href, query, fragment };
}

/** The value at a JSON Pointer (RFC 6901), or `undefined`. */
export function resolvePointer(pointer: string, value: unknown): unknown {
  if (pointer === "") return value;
  let found = value;
  for (const part of pointer.slice(1).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isJsonObject(found) && !Array.isArray(found) || !Object.hasOwn(found as object, name)) {
      return undefined;
    }
    if (Array.isArray(found) && name === "length") return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** The value of a capture's source, or `undefined`. */
export function readCapture(source: JsonObject, view: View): unknown {
  const [[kind, where] = ["", undefined]] = Object.entries(source);
  switch (kind) {
    case "json":
      return resolvePointer(String(where), view["json"]);
    case "message":
      return resolvePointer(String(where), view["messages"]);
    case "response":
      return resolvePointer(String(where), (view["messages"] as unknown[] | undefined)?.find(isResponse));
    case "view":
      return resolvePointer(String(where), view);
    case "header":
      return resolvePointer(`/headers/${String(where).toLowerCase()}`, view);
    case "cookie":
      return (view["cookies"] as Record<string, JsonObject> | undefined)?.[String(where)]?.["value"];
    case "redirect": {
      const redirect = view["redirect"] as Record<string, JsonObject> | undefined;
      return redirect?.["query"]?.[String(where)] ?? redirect?.["fragment"]?.[String(where)];
    }
    case "between": {
      const [start, end] = where as [string, string];
      const body = String(view["body"] ?? "");
      const from = body.indexOf(start);
      const to = from < 0 ? -1 : body.indexOf(end, from + start.length);
      return to < 0 ? undefined : decodeEntities(body.slice(from + start.length, to));
    }
    default:
      return undefined;
  }
}
