/**
 * Removes the credentials of a request from its answer: some services repeat header fields, or their address as that of the
 * next page. They are also found where JSON, HTML or a URL escapes some of their characters, and inside each other.
 *
 * @module
 */
import { decodeBase64 } from "../crypto/base64.ts";
import { WorkSlice } from "../http/work_slice.ts";
import type { Answer } from "./answer.ts";
import type { Credentials } from "./security.ts";

/** Other fixed fields, such as a version or a language, may well be in an answer. */
const CREDENTIAL_NAME = /auth|key|token|secret|cookie|password|credential|session|signature/i;
/** A shorter value may be in an answer by chance. */
const MIN_SECRET_CHARACTERS = 8;
/** Escapes in escapes, such as a URL in JSON. */
const MAX_NESTED_ESCAPES = 2;
const ESCAPES_PER_STEP = 1000;
const HEX = "[0-9A-Fa-f]";
/** An escaped character of JSON (RFC 8259 section 7), a URL (RFC 3986 section 2.1) or HTML. */
const ESCAPE = new RegExp(
  String.raw`\\u(?:[dD][89ABab]${HEX}{2}\\u[dD][C-Fc-f]${HEX}{2}|${HEX}{4})|\\["\\/bfnrt]|%${HEX}{2}|` +
    `&(?:#\\d{1,7}|#[xX]${HEX}{1,6}|amp|lt|gt|quot|apos);`,
  "g",
);
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * The answer, with its header fields, without the credentials of its request.
 * @param fixed header fields of every request, of which those with the name of a credential are one
 */
export async function redact(
  answer: Answer,
  credentials: Credentials,
  fixed: Readonly<Record<string, string>>,
): Promise<Answer> {
  const named = Object.entries(fixed).filter(([name]) => CREDENTIAL_NAME.test(name));
  const headers = { ...Object.fromEntries(named), ...credentials.headers };
  return await hideAll(answer, secretsOf({ ...credentials, headers }));
}

async function hideAll(answer: Answer, values: readonly string[]): Promise<Answer> {
  const secrets = values.map((secret) => toBinary(new TextEncoder().encode(secret)));
  if (secrets.length === 0) return answer;
  const hide = async (text: string): Promise<string> =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      await overwrite(new TextEncoder().encode(text), secrets),
    );
  const headers = new Headers();
  for (const [name, value] of answer.headers) headers.append(name, await hide(value));
  return {
    ...answer,
    headers,
    mimeType: await hide(answer.mimeType),
    bytes: await overwrite(answer.bytes, secrets),
  };
}

/** The values that an answer must not contain. */
function secretsOf({ headers, query, cookies }: Credentials): string[] {
  const sent = Object.entries(headers).flatMap(([name, value]) => [
    value,
    value.replace(/^[\w-]+ +/, ""),
    ...decodeBasic(value),
    ...(name.toLowerCase() === "cookie" ? value.split(/; */).map(valueOf) : []),
  ]);
  const values = [...sent, ...[...query, ...cookies].map(valueOf)].flatMap((value) => {
    const decoded = decodeURIComponentSafely(value);
    // Forms write a space as "+".
    return [value, decoded, decoded.replaceAll(" ", "+")];
  });
  return [...new Set(values)].filter(({ length }) => length >= MIN_SECRET_CHARACTERS);
}

function valueOf(pair: string): string {
  return pair.slice(pair.indexOf("=") + 1);
}

/** `user:password` of RFC 7617, and the password. */
function decodeBasic(value: string): string[] {
  const encoded = /^Basic +([\w+/]+=*)$/i.exec(value)?.[1];
  if (encoded === undefined) return [];
  try {
    const pair = new TextDecoder().decode(decodeBase64(encoded));
    return [pair, pair.slice(pair.indexOf(":") + 1)];
  } catch {
    return [];
  }
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One character for each byte, because engines search texts in linear time. */
function toBinary(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

/** Writes "*" over each occurrence of a secret, in UTF-8. */
async function overwrite(
  bytes: Uint8Array<ArrayBuffer>,
  secrets: readonly string[],
): Promise<Uint8Array<ArrayBuffer>> {
  let copy: Uint8Array<ArrayBuffer> | undefined;
  // No encoding changes ASCII letters and digits.
  const isPlain = secrets.every((secret) => /^[A-Za-z\d]*$/.test(secret));
  let text = toBinary(bytes);
  let origins: Uint32Array | undefined;
  for (let depth = 0;; depth++) {
    for (const secret of secrets) {
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
        const end = at + secret.length;
        copy ??= bytes.slice();
        copy.fill(42, origins ? origins[at] : at, origins ? origins[end] : end);
      }
    }
    if (isPlain || depth === MAX_NESTED_ESCAPES) return copy ?? bytes;
    const decoded = await decodeEscapes(text, origins);
    if (!decoded) return copy ?? bytes;
    ({ text, origins } = decoded);
  }
}

/**
 * The text without escapes, and where each of its characters begins in the bytes of the answer, and the last one ends;
 * `undefined` for a text without escapes.
 */
async function decodeEscapes(
  text: string,
  before: Uint32Array | undefined,
): Promise<{ readonly text: string; readonly origins: Uint32Array } | undefined> {
  const slice = new WorkSlice();
  let parts = "";
  let read = 0;
  let count = 0;
  const origins = new Uint32Array(text.length + 1);
  const copyTo = (end: number): void => {
    if (before) origins.set(before.subarray(read, end), parts.length);
    else for (let at = read; at < end; at++) origins[parts.length + at - read] = at;
    parts += text.slice(read, end);
    read = end;
  };
  for (const { 0: escape, index } of text.matchAll(ESCAPE)) {
    copyTo(index);
    const character = decodeEscape(escape);
    origins.fill(before ? before[index]! : index, parts.length, parts.length + character.length);
    parts += character;
    read = index + escape.length;
    if (++count % ESCAPES_PER_STEP === 0 && slice.isOver) await slice.yield();
  }
  if (read === 0) return undefined;
  copyTo(text.length);
  origins[parts.length] = before ? before[text.length]! : text.length;
  return { text: parts, origins: origins.subarray(0, parts.length + 1) };
}

/** The character of an escape, in UTF-8: one character for each byte. */
function decodeEscape(escape: string): string {
  if (escape.startsWith("%")) return toBinary(Uint8Array.of(parseInt(escape.slice(1), 16)));
  const character: string = escape.startsWith("&")
    ? decodeReference(escape.slice(1, -1))
    : JSON.parse(`"${escape}"`);
  return character < "\u0080" ? character : toBinary(new TextEncoder().encode(character));
}

/** A character reference of HTML without `&` and `;`. */
function decodeReference(reference: string): string {
  if (!reference.startsWith("#")) return NAMED[reference]!;
  const point = /^#x/i.test(reference) ? parseInt(reference.slice(2), 16) : Number(reference.slice(1));
  return point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
}
