/**
 * Requests as the server received them, in the form that scenarios check.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import { parseJson, toParameters } from "../vector/match.ts";
import type { JsonObject } from "../vector/vector_file.ts";

/** One request. The type is an alias so that patterns can be applied to it. */
export type RecordedRequest = {
  /** Endpoint or JSON-RPC method. */
  at: string;
  readonly method: string;
  readonly path: string;
  readonly query: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: JsonObject;
  readonly json?: unknown;
  /** User and password of HTTP Basic, form-decoded (RFC 6749 section 2.3.1). */
  readonly basic?: { readonly id: string; readonly secret: string };
  /** What only the server can say about the request. */
  readonly facts: Record<string, unknown>;
};

/** Limit of a request body. */
const MAX_BODY_BYTES = 1 << 20;

/** Reads a request with its body. */
export async function recordRequest(request: IncomingMessage): Promise<RecordedRequest> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk;
    if (body.length > MAX_BODY_BYTES) break;
  }
  const { pathname, search } = new URL(`http://host${request.url}`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
  const type = headers["content-type"] ?? "";
  const json = /^\s*[{[]/.test(body) ? parseJson(body) : undefined;
  const basic = parseBasic(headers["authorization"]);
  return {
    at: "other",
    method: request.method ?? "",
    path: pathname,
    query: toParameters(search),
    headers,
    form: type.startsWith("application/x-www-form-urlencoded") ? toParameters(body) : {},
    ...(json !== undefined && { json }),
    ...(basic && { basic }),
    facts: {},
  };
}

function parseBasic(field = ""): RecordedRequest["basic"] {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(field) ?? [];
  if (encoded === undefined) return undefined;
  const text = new TextDecoder().decode(Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0)));
  const colon = text.indexOf(":");
  return colon < 0
    ? undefined
    : { id: decodeForm(text.slice(0, colon)), secret: decodeForm(text.slice(colon + 1)) };
}

function decodeForm(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
