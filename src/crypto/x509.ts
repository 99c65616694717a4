/**
 * The few things that a server behind a TLS proxy reads of a client's certificate (https://www.rfc-editor.org/rfc/rfc5280):
 * its thumbprint, its public key, its names. Whether to trust it is the proxy's to say.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { sha256 } from "./sha256.ts";

export interface Certificate {
  /** RFC 8705 §3.1: base64url of the SHA-256 of the whole. */
  readonly thumbprint: string;
  /** The public key as DER (SubjectPublicKeyInfo), in base64url. */
  readonly publicKey: string;
  readonly names: Readonly<Record<"san_dns" | "san_uri" | "san_ip" | "san_email", readonly string[]>>;
  /** RFC 4514 §2, the last attribute first. */
  readonly subject_dn: string;
}

/** One DER value: its tag, its content, and where it stands whole. */
interface Der {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

const SEQUENCE = 0x30;
const OID = 0x06;
/** The context tags of a certificate's optional parts, and of the kinds of names: RFC 5280 §4.1 and §4.2.1.6. */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const NAME_KINDS: Readonly<Record<number, keyof Certificate["names"]>> = {
  0x81: "san_email",
  0x82: "san_dns",
  0x86: "san_uri",
  0x87: "san_ip",
};
const SUBJECT_ALT_NAME = "551d11";
/** RFC 4514 §3, by the object identifier's bytes. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  "550403": "CN",
  "550406": "C",
  "550407": "L",
  "550408": "ST",
  "550409": "STREET",
  "55040a": "O",
  "55040b": "OU",
  "0992268993f22c640119": "DC",
  "0992268993f22c640101": "UID",
};

/** Reads a certificate from its DER bytes; `undefined` when they are none. */
export function parseCertificate(der: Uint8Array): Certificate | undefined {
  try {
    const [body] = children(readDer(der, 0));
    const parts = children(body!).filter(({ tag }) => tag !== VERSION);
    // serialNumber, signature, issuer, validity, subject, subjectPublicKeyInfo
    const [, , , , subject, key] = parts;
    const extensions = parts.find(({ tag }) => tag === EXTENSIONS);
    return {
      thumbprint: encodeBase64url(sha256(der)),
      publicKey: encodeBase64url(key!.whole),
      subject_dn: children(subject!).map(nameOf).reverse().join(","),
      names: extensions ? readNames(extensions) : { san_dns: [], san_uri: [], san_ip: [], san_email: [] },
    };
  } catch {
    return undefined;
  }
}

/** The DER bytes of a certificate in PEM, or in plain base64; `undefined` when it is neither. */
export function decodePem(text: string): Uint8Array | undefined {
  const body = /-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/.exec(text)?.[1] ?? text;
  const plain = body.replace(/\s+/g, "").replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
  return plain === "" ? undefined : decodeBase64url(plain);
}

function readDer(bytes: Uint8Array, at: number): Der {
  const tag = bytes[at]!;
  let length = bytes[at + 1]!;
  let start = at + 2;
  if (length > 0x84) throw new RangeError("A DER length of more than four bytes");
  if (length >= 0x80) {
    const digits = length & 0x7f;
    length = 0;
    for (let i = 0; i < digits; i++) length = length * 256 + bytes[start++]!;
  }
  const end = start + length;
  if (!(end <= bytes.length)) throw new RangeError("A DER value that ends beyond its bytes");
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) };
}

function children({ content }: Der): Der[] {
  const found: Der[] = [];
  for (let at = 0; at < content.length;) {
    const child = readDer(content, at);
    found.push(child);
    at += child.whole.length;
  }
  return found;
}

function nameOf(set: Der): string {
  return children(set).map((attribute) => {
    const [type, value] = children(attribute);
    const id = toHex(type!.content);
    return `${ATTRIBUTES[id] ?? id}=${escape(new TextDecoder().decode(value!.content))}`;
  }).join("+");
}

/** RFC 4514 §2.4 */
function escape(text: string): string {
  return text.replace(/[,+"\\<>;=]|^[ #]| $/g, (character) => "\\" + character);
}

function readNames(extensions: Der): Certificate["names"] {
  const names = {
    san_dns: [] as string[],
    san_uri: [] as string[],
    san_ip: [] as string[],
    san_email: [] as string[],
  };
  for (const extension of children(children(extensions)[0]!)) {
    const parts = children(extension);
    if (parts[0]!.tag !== OID || toHex(parts[0]!.content) !== SUBJECT_ALT_NAME) continue;
    const list = readDer(parts.at(-1)!.content, 0);
    if (list.tag !== SEQUENCE) continue;
    for (const { tag, content } of children(list)) {
      const kind = NAME_KINDS[tag];
      if (kind) names[kind].push(kind === "san_ip" ? formatIp(content) : new TextDecoder().decode(content));
    }
  }
  return names;
}

/** As RFC 8705 §2.1.2 compares them: dotted decimal, or eight groups of hexadecimal digits. */
function formatIp(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  return (toHex(bytes).match(/.{4}/g) ?? []).map((group) => group.replace(/^0{1,3}/, "")).join(":");
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
