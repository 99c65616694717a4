/**
 * Exchanges as texts for people: start line, fields, the beginning of the body. Secrets are masked later, by whoever
 * prints them (`mask.ts`).
 *
 * @module
 */
import { toText } from "../exchange/bytes.ts";
import type { Answer, Broken, Field, Outgoing } from "../exchange/exchange.ts";

const MAX_READ_CHARACTERS = 16_384;
const MAX_BODY_CHARACTERS = 4000;
const MAX_HEADER_CHARACTERS = 8000;

export function showRequest({ method, url, fields, body, wire }: Outgoing): string {
  if (wire) return cut(wire);
  const { host, pathname, search } = new URL(url);
  return `${method} ${shorten(pathname + search, MAX_BODY_CHARACTERS).trimEnd()}\nhost: ${host}\n${
    showFields(fields)
  }${showBody(body)}`;
}

export function showAnswer(answer: Partial<Answer>, broken?: Broken): string {
  const start = answer.status === undefined ? "" : `${answer.status}\n`;
  const end = broken ? `\n(${broken.word}: ${broken.message})` : "";
  return `${start}${showFields(answer.fields ?? [])}${showBody(answer.body)}${end}`.trim();
}

function showFields(fields: readonly Field[]): string {
  return shorten(
    fields.map(([name, value]) => `${name.toLowerCase()}: ${value}\n`).join(""),
    MAX_HEADER_CHARACTERS,
  );
}

function showBody(body: Uint8Array | undefined): string {
  return body && body.length > 0 ? `\n${cut(body)}` : "";
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}… (${text.length} characters)\n` : text;
}

function cut(bytes: Uint8Array): string {
  const text = toText(bytes.subarray(0, MAX_READ_CHARACTERS)).replace(
    // deno-lint-ignore no-control-regex
    /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g,
    "\ufffd",
  )
    // Styles and pictures in a page say nothing here.
    .replace(/(data:[a-z/+-]+[;,])[^"'\s)]{80,}/g, "$1…");
  return bytes.length > MAX_READ_CHARACTERS || text.length > MAX_BODY_CHARACTERS
    ? `${text.slice(0, MAX_BODY_CHARACTERS)}… (${bytes.length} bytes)`
    : text;
}
