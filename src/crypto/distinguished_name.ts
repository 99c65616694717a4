/**
 * Distinguished names as text (RFC 4514): formats the name of a certificate, and converts names to a canonical form, in
 * which they can be compared.
 *
 * @module
 */
import { toHex } from "./hex.ts";

/** Names of attribute types by object identifier: RFC 4514 section 3, RFC 4519 section 2, RFC 2985 section 5.2.1. */
const TYPES: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN",
  "2.5.4.4": "SN",
  "2.5.4.5": "serialNumber",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.9": "STREET",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "2.5.4.12": "title",
  "2.5.4.13": "description",
  "2.5.4.15": "businessCategory",
  "2.5.4.17": "postalCode",
  "2.5.4.41": "name",
  "2.5.4.42": "givenName",
  "2.5.4.43": "initials",
  "2.5.4.44": "generationQualifier",
  "2.5.4.46": "dnQualifier",
  "2.5.4.65": "pseudonym",
  "2.5.4.97": "organizationIdentifier",
  "0.9.2342.19200300.100.1.1": "UID",
  "0.9.2342.19200300.100.1.25": "DC",
  "1.2.840.113549.1.9.1": "emailAddress",
};
const IDENTIFIERS = new Map([
  ...Object.entries(TYPES).map(([oid, name]) => [name.toLowerCase(), oid] as const),
  // The long names of RFC 4519, and the names of emailAddress in older tools.
  ["commonname", "2.5.4.3"],
  ["surname", "2.5.4.4"],
  ["countryname", "2.5.4.6"],
  ["localityname", "2.5.4.7"],
  ["stateorprovincename", "2.5.4.8"],
  ["streetaddress", "2.5.4.9"],
  ["organizationname", "2.5.4.10"],
  ["organizationalunitname", "2.5.4.11"],
  ["userid", "0.9.2342.19200300.100.1.1"],
  ["domaincomponent", "0.9.2342.19200300.100.1.25"],
  ["e", "1.2.840.113549.1.9.1"],
  ["email", "1.2.840.113549.1.9.1"],
]);
const SPECIAL = /[,+"\\<>;=#\s]/;

/** One attribute: its type as a dotted identifier, its value as hexadecimal DER and, for string types, as text. */
export interface NameAttribute {
  readonly type: string;
  readonly text?: string;
  readonly der: string;
}

/** The name in the string representation of RFC 4514 section 2, the last part first. */
export function formatName(parts: readonly (readonly NameAttribute[])[]): string {
  return [...parts].reverse().map((part) => part.map(formatAttribute).join("+")).join(",");
}

function formatAttribute({ type, text, der }: NameAttribute): string {
  const name = TYPES[type];
  // Section 2.4: the value of a type without a name is hexadecimal.
  return name === undefined || text === undefined
    ? `${name ?? type}=#${der}`
    : `${name}=${escapeValue(text)}`;
}

/** Section 2.4 */
function escapeValue(text: string): string {
  return text.replace(/[,+"\\<>;=]|^[ #]| $|\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0);
    // Control characters are written as hexadecimal bytes.
    if (code < 0x20 || code === 0x7f) return "\\" + toHex(Uint8Array.of(code));
    return code < 0x80 ? "\\" + character : character;
  });
}

/**
 * The canonical form of a name, equal for all its notations: types by name in any case or dotted; values escaped, quoted or
 * hexadecimal; spaces around separators. Values are case-sensitive. `undefined` for text that is not a name.
 */
export function canonicalName(text: string): string | undefined {
  const parts: string[][] = [[]];
  let at = 0;
  while (at < text.length) {
    const type = /^ *([A-Za-z][A-Za-z0-9-]*|(?:OID\.)?\d+(?:\.\d+)+) *= */i.exec(text.slice(at, at + 200));
    if (!type) return undefined;
    at += type[0].length;
    const value = readValue(text, at);
    if (!value) return undefined;
    const name = type[1]!.toLowerCase().replace(/^oid\./, "");
    parts.at(-1)!.push(JSON.stringify([IDENTIFIERS.get(name) ?? name, value.text]));
    at = value.end;
    if (at === text.length) return JSON.stringify(parts.map((part) => part.sort()));
    if (text[at] !== "+") parts.push([]);
    at++;
  }
  return undefined;
}

/** Reads a value from `start` to its separator. */
function readValue(text: string, start: number): { text: string; end: number } | undefined {
  const quoted = /^"((?:[^"\\]|\\[^])*)" *(?=[,;+]|$)/.exec(text.slice(start));
  const raw = quoted?.[1] ?? /^(?:[^,;+"\\]|\\[^])*/.exec(text.slice(start))![0];
  const end = start + (quoted?.[0] ?? raw).length;
  if (end < text.length && !/[,;+]/.test(text[end]!)) return undefined;
  if (!quoted && raw.startsWith("#")) {
    const der = /^#((?:[0-9a-f]{2})+) *$/i.exec(raw)?.[1];
    return der === undefined ? undefined : { text: decodeHexValue(der.toLowerCase()), end };
  }
  const value = unescapeValue(quoted ? raw : trimEnd(raw));
  return value === undefined ? undefined : { text: value, end };
}

/** Removes spaces at the end, except an escaped one. */
function trimEnd(raw: string): string {
  const trimmed = raw.replace(/^(.*[^ ])? *$/s, "$1");
  const escapes = /\\*$/.exec(trimmed.slice(-64))![0].length;
  return escapes % 2 === 1 && trimmed.length < raw.length ? trimmed + " " : trimmed;
}

/** Resolves backslashes before special characters and before two hexadecimal digits of a UTF-8 byte. */
function unescapeValue(raw: string): string | undefined {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (let i = 0; i < raw.length;) {
    if (raw[i] !== "\\") {
      const character = String.fromCodePoint(raw.codePointAt(i)!);
      bytes.push(...encoder.encode(character));
      i += character.length;
    } else if (/^[0-9a-f]{2}$/i.test(raw.slice(i + 1, i + 3))) {
      bytes.push(parseInt(raw.slice(i + 1, i + 3), 16));
      i += 3;
    } else if (SPECIAL.test(raw[i + 1] ?? "")) {
      bytes.push(raw.charCodeAt(i + 1));
      i += 2;
    } else return undefined;
  }
  return decodeUtf8(new Uint8Array(bytes));
}

/** The text of a DER string with a short length; otherwise the DER in a form that equals no text. */
function decodeHexValue(der: string): string {
  const bytes = Uint8Array.from(der.match(/../g)!, (byte) => parseInt(byte, 16));
  const text = bytes[1] === bytes.length - 2 && bytes[1]! < 0x80
    ? decodeString(bytes[0]!, bytes.subarray(2))
    : undefined;
  return text ?? "\u0000#" + der;
}

/** The text of a DER string (X.680 section 8.4); `undefined` for other types and invalid bytes. */
export function decodeString(tag: number, content: Uint8Array): string | undefined {
  switch (tag) {
    case 0x0c: // UTF8String
    case 0x13: // PrintableString
    case 0x16: // IA5String
    case 0x12: // NumericString
      return decodeUtf8(content);
    case 0x14: // TeletexString, which is written as Latin-1
      return String.fromCharCode(...content.subarray(0, 1000));
    case 0x1e: // BMPString
      return content.length % 2 === 0
        ? String.fromCharCode(
          ...Array.from(
            { length: content.length / 2 },
            (_, i) => content[2 * i]! * 256 + content[2 * i + 1]!,
          ),
        )
        : undefined;
    default:
      return undefined;
  }
}

/** The text; `undefined` for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
