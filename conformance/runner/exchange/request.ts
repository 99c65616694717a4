/**
 * Builds the bytes of a described request (`FORMAT.md` section 5).
 *
 * @module
 */
import { utf8 } from "./bytes.ts";
import { buildContent, type Content } from "./content.ts";
import type { HeaderField, HttpRequest } from "./exchange.ts";
import { buildMultipart } from "./multipart.ts";
import { KitError } from "../outcome.ts";
import { toText } from "../vector/template.ts";
import type { JsonObject, RequestDescription } from "../vector/vector_file.ts";

/** @param description with its templates filled */
export async function buildRequest(
  description: RequestDescription,
  { base, raw }: { readonly base: string; readonly raw: boolean },
): Promise<HttpRequest> {
  const url = resolveUrl(description, base);
  const content = await buildBody(description);
  const fields: HeaderField[] = [];
  const without: string[] = [];
  let hasType = content?.type === undefined || raw;
  for (const [name, value] of Object.entries(description.headers ?? {})) {
    if (name.toLowerCase() === "content-type") hasType = true;
    if (value === null) without.push(name.toLowerCase());
    else for (const each of Array.isArray(value) ? value : [value]) fields.push([name, toText(each)]);
  }
  if (!hasType) fields.push(["content-type", content!.type!]);
  return {
    method: description.method ?? (content ? "POST" : "GET"),
    url: url.href,
    fields,
    without,
    body: content?.bytes,
    raw,
    wire: description.wire === undefined ? undefined : utf8(description.wire),
  };
}

function resolveUrl({ url: text = "", query }: RequestDescription, base: string): URL {
  const url = URL.parse(text, base.endsWith("/") || text.startsWith("/") ? base : `${base}/`);
  if (!url) throw new KitError(`Invalid request URL "${text}"`);
  const more = toSearchParams(query ?? {}).toString();
  if (more !== "") url.search += `${url.search === "" ? "?" : "&"}${more}`;
  return url;
}

function toSearchParams(members: JsonObject): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null) parameters.append(name, toText(each));
    }
  }
  return parameters;
}

async function buildBody(described: RequestDescription): Promise<Content | undefined> {
  if (described.form) {
    return {
      type: "application/x-www-form-urlencoded",
      bytes: utf8(toSearchParams(described.form).toString()),
    };
  }
  if (described.multipart) {
    const boundary = described.boundary ?? "----conformance-7d1f0c2ab4";
    return {
      type: `multipart/form-data; boundary=${boundary}`,
      bytes: await buildMultipart(described.multipart, boundary, described.unclosed === true),
    };
  }
  return await buildContent(described as JsonObject);
}
