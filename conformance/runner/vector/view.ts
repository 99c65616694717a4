/**
 * The view of an answer that expectations and captures see: `FORMAT.md` section 3.
 *
 * @module
 */
import { sha256, toHex, toStrictText, toText } from "../exchange/bytes.ts";
import { EventReader } from "../exchange/event_reader.ts";
import type { Answer, Broken, Field } from "../exchange/exchange.ts";
import { parseJson, toParameters } from "./match.ts";
import { isMembers, type Members } from "./vector_file.ts";

export type View = Members;

/** @param url that was asked: `location` is resolved against it */
export async function toView(answer: Partial<Answer>, url: string, broken?: Broken): Promise<View> {
  const view: Record<string, unknown> = { url };
  if (broken) Object.assign(view, { broken: broken.word, why: broken.message });
  if (answer.status !== undefined) view["status"] = answer.status;
  const fields = answer.fields ?? [];
  const headers = joinFields(fields);
  view["headers"] = headers;
  view["cookies"] = Object.fromEntries(
    fields.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => readCookie(value)),
  );
  const location = headers["location"];
  if (location !== undefined) view["redirect"] = readRedirect(location, url);
  if (answer.body !== undefined) {
    const body = toText(answer.body);
    Object.assign(view, { body, size: answer.body.length, sha256: toHex(await sha256(answer.body)) });
    const text = toStrictText(answer.body);
    const json = text === undefined ? undefined : parseJson(text);
    if (json !== undefined) view["json"] = json;
    if (/^text\/event-stream\b/i.test(headers["content-type"] ?? "")) {
      const events = new EventReader().push(answer.body);
      view["events"] = events;
      view["messages"] = events.map((event) => event["json"]).filter((each) => each !== undefined);
    } else if (json !== undefined) view["messages"] = [json];
  }
  return view;
}

/** Lower-case names to values, repeated fields joined; without `set-cookie`. */
export function joinFields(fields: readonly Field[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [written, value] of fields) {
    const name = written.toLowerCase();
    if (name === "set-cookie") continue;
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** Name of a cookie, and its value and attributes (RFC 6265 section 5.2). */
export function readCookie(field: string): [name: string, cookie: Readonly<Record<string, string | true>>] {
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

/** The view's `redirect`: where a `Location` leads, seen from an address. */
export function readRedirect(location: string, base: string): Members {
  const url = URL.parse(location, base);
  if (!url) return { to: location, query: {}, fragment: {} };
  const query = toParameters(url.search);
  const fragment = toParameters(url.hash);
  url.search = "";
  url.hash = "";
  return { to: url.href, query, fragment };
}

/** The value that a JSON Pointer (RFC 6901) leads to, or nothing. */
export function pointTo(pointer: string, value: unknown): unknown {
  if (pointer === "") return value;
  let found = value;
  for (const part of pointer.slice(1).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isMembers(found) && !Array.isArray(found) || !Object.hasOwn(found as object, name)) return undefined;
    if (Array.isArray(found) && name === "length") return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** What a capture's source gives, or nothing. */
export function read(source: Members, view: View): unknown {
  const [[kind, where] = ["", undefined]] = Object.entries(source);
  switch (kind) {
    case "json":
      return pointTo(String(where), view["json"]);
    case "message":
      return pointTo(String(where), view["messages"]);
    case "view":
      return pointTo(String(where), view);
    case "header":
      return pointTo(`/headers/${String(where).toLowerCase()}`, view);
    case "cookie":
      return (view["cookies"] as Record<string, Members> | undefined)?.[String(where)]?.["value"];
    case "redirect": {
      const redirect = view["redirect"] as Record<string, Members> | undefined;
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

/** HTML's five named entities and numeric ones. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
    (whole, hex, decimal, name) => {
      if (name) return ENTITIES[String(name).toLowerCase()]!;
      const point = hex ? parseInt(hex, 16) : Number(decimal);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    },
  );
}
