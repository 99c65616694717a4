/**
 * Encrypts and authenticates text with AES-256-GCM. The key is derived from a secret and a purpose, so that text sealed for
 * one purpose cannot be used for another.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { randomBytes } from "./secret.ts";
import { hmacSha256 } from "./sha256.ts";

const NONCE_BYTES = 12;
const encoder = new TextEncoder();

/** Encrypts and authenticates the text. The result is base64url. */
export async function seal(secret: Uint8Array, purpose: string, text: string): Promise<string> {
  return sealWith(await deriveKey(secret, purpose), text);
}

/** The text, if it was sealed with this secret for this purpose; otherwise `undefined`. */
export async function unseal(
  secret: Uint8Array,
  purpose: string,
  sealed: string,
): Promise<string | undefined> {
  return unsealWith(await deriveKey(secret, purpose), sealed);
}

async function sealWith(key: CryptoKey, text: string, boundTo = ""): Promise<string> {
  const nonce = randomBytes(NONCE_BYTES);
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv: nonce, additionalData: encoder.encode(boundTo) },
    key,
    encoder.encode(text),
  );
  const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  bytes.set(nonce);
  bytes.set(new Uint8Array(sealed), NONCE_BYTES);
  return encodeBase64url(bytes);
}

async function unsealWith(key: CryptoKey, sealed: string, boundTo = ""): Promise<string | undefined> {
  const bytes = decodeBase64url(sealed);
  if (bytes === undefined || bytes.length <= NONCE_BYTES) return undefined;
  try {
    const iv = bytes.subarray(0, NONCE_BYTES);
    const additionalData = encoder.encode(boundTo);
    const text = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv, additionalData },
      key,
      bytes.subarray(NONCE_BYTES),
    );
    return new TextDecoder().decode(text);
  } catch {
    return undefined;
  }
}

function deriveKey(secret: Uint8Array, purpose: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", hmacSha256(secret, "seal:" + purpose), "AES-GCM", false, [
    "encrypt",
    "decrypt",
  ]);
}

/** Seals and unseals for one purpose, with a key that is derived once. */
export interface Sealer {
  /** @param boundTo associated data: only with the same text it is unsealed, such as the key of its record */
  seal(text: string, boundTo?: string): Promise<string>;
  unseal(sealed: string, boundTo?: string): Promise<string | undefined>;
}

/** Creates a {@linkcode Sealer}. It calls `secret` at the first use. */
export function createSealer(secret: () => Promise<Uint8Array>, purpose: string): Sealer {
  let known: CryptoKey | undefined;
  const key = async (): Promise<CryptoKey> => known ??= await deriveKey(await secret(), purpose);
  return {
    seal: async (text, boundTo) => sealWith(await key(), text, boundTo),
    unseal: async (sealed, boundTo) => unsealWith(await key(), sealed, boundTo),
  };
}
