/**
 * Formats exchanges as text for people: start line, header fields, the beginning of the body. The report
 * masks secrets afterwards (`mask.ts`).
 *
 * @module
 */
import { toText } from "../exchange/bytes.ts";
import type { BrokenExchange, HeaderField, HttpRequest, HttpResponse } from "../exchange/exchange.ts";

const MAX_READ_CHARACTERS = 16_384;
const MAX_BODY_CHARACTERS = 4000;
const MAX_HEADER_CHARACTERS = 8000;

export function formatRequest({ method, url, fields, body, wire }: HttpRequest): string {
  if (wire) return formatBytes(wire);
  const { host, pathname, search } = new URL(url);
  return `${method} ${shorten(pathname + search, MAX_BODY_CHARACTERS).trimEnd()}\nhost: ${host}\n${
    formatFields(fields)
  }${formatBody(body)}`;
}

export function formatResponse(response: Partial<HttpResponse>, broken?: BrokenExchange): string {
  const start = response.status === undefined ? "" : `${response.status}\n`;
  const end = broken ? `\n(${broken.kind}: ${broken.message})` : "";
  return `${start}${formatFields(response.fields ?? [])}${formatBody(response.body)}${end}`.trim();
}

function formatFields(fields: readonly HeaderField[]): string {
  return shorten(
    fields.map(([name, value]) => `${name.toLowerCase()}: ${value}\n`).join(""),
    MAX_HEADER_CHARACTERS,
  );
}

/** Replaces characters that control a terminal or the direction of text, which a server may send. */
export function replaceControls(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

function formatBody(body: Uint8Array | undefined): string {
  return body && body.length > 0 ? `\n${formatBytes(body)}` : "";
}

function shorten(text: string, maxCharacters: number): string {
  return text.length > maxCharacters
    ? `${text.slice(0, maxCharacters)}… (${text.length} characters)\n`
    : text;
}

function formatBytes(bytes: Uint8Array): string {
  const text = replaceControls(toText(bytes.subarray(0, MAX_READ_CHARACTERS)))
    // Embedded images and fonts of a page are shortened.
    .replace(/(data:[a-z/+-]+[;,])[^"'\s)]{80,}/g, "$1…");
  return bytes.length > MAX_READ_CHARACTERS || text.length > MAX_BODY_CHARACTERS
    ? `${text.slice(0, MAX_BODY_CHARACTERS)}… (${bytes.length} bytes)`
    : text;
}
