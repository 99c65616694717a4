/**
 * Reads the thumbprint, public key and names of a client certificate (RFC 5280). The TLS proxy decides whether to trust the
 * certificate. Web Crypto has no certificates, and a package for all of X.509 (`@peculiar/x509`) bundles to 54 KB gzipped;
 * these fields need 3.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { decodeString, decodeUtf8, formatName, type NameAttribute } from "./distinguished_name.ts";
import { toHex } from "./hex.ts";
import { sha256 } from "./sha256.ts";

export interface Certificate {
  /** RFC 8705 section 3.1: base64url of the SHA-256 of the DER certificate. */
  readonly thumbprint: string;
  /** The public key as DER (SubjectPublicKeyInfo), in base64url. */
  readonly publicKey: string;
  readonly names: Readonly<Record<"san_dns" | "san_uri" | "san_ip" | "san_email", readonly string[]>>;
  /** In the form of RFC 4514 section 2, the last part first. Compare it by `canonicalName`. */
  readonly subject_dn: string;
}

/** One DER value: its tag, its content, and all its bytes. */
interface Der {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

const SEQUENCE = 0x30;
const OID = 0x06;
/** Context tags of the optional parts of a certificate and of the kinds of names (RFC 5280 sections 4.1 and 4.2.1.6). */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const NAME_KINDS: Readonly<Record<number, keyof Certificate["names"]>> = {
  0x81: "san_email",
  0x82: "san_dns",
  0x86: "san_uri",
  0x87: "san_ip",
};
const SUBJECT_ALT_NAME = "551d11";

/** Parses a DER certificate; `undefined` for invalid bytes. */
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
      subject_dn: formatName(children(subject!).map(readNamePart)),
      names: extensions ? readNames(extensions) : { san_dns: [], san_uri: [], san_ip: [], san_email: [] },
    };
  } catch {
    return undefined;
  }
}

/** The DER bytes of a certificate in PEM or plain base64; `undefined` for other text. */
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

function readNamePart(set: Der): NameAttribute[] {
  return children(set).map((attribute) => {
    const [type, value] = children(attribute);
    const text = decodeString(value!.tag, value!.content);
    return { type: formatOid(type!.content), ...(text !== undefined && { text }), der: toHex(value!.whole) };
  });
}

/** X.690 section 8.19: seven bits in each byte; the first number encodes two components. */
function formatOid(content: Uint8Array): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f);
    if (byte & 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  const [first = 0, ...rest] = numbers;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - 40 * root, ...rest].join(".");
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
      const name = kind === "san_ip" ? formatIp(content) : kind && decodeUtf8(content);
      // Invalid names are skipped: decoded with replacement characters, two of them could become equal.
      if (kind && name !== undefined) names[kind].push(name);
    }
  }
  return names;
}

/** Dotted decimal for IPv4, RFC 5952 text for IPv6. */
function formatIp(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = (toHex(bytes).match(/.{4}/g) ?? []).join(":");
  return URL.parse(`http://[${groups}]`)?.hostname.slice(1, -1) ?? groups;
}
