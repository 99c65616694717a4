/**
 * Texts that only the holder of a secret can read or make: AES-256-GCM under a key derived from the secret
 * and bound to a purpose, so that what was sealed for one use cannot be opened as another.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { randomBytes } from "./secret.ts";
import { hmacSha256 } from "./sha256.ts";

const NONCE = 12;

/** The text, encrypted and authenticated, as base64url. */
export async function seal(secret: Uint8Array, purpose: string, text: string): Promise<string> {
  return sealWith(await deriveKey(secret, purpose), text);
}

/** The text that was sealed with this secret for this purpose; `undefined` for anything else. */
export async function unseal(
  secret: Uint8Array,
  purpose: string,
  sealed: string,
): Promise<string | undefined> {
  return unsealWith(await deriveKey(secret, purpose), sealed);
}

async function sealWith(key: CryptoKey, text: string): Promise<string> {
  const nonce = randomBytes(NONCE);
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv: nonce },
    key,
    new TextEncoder().encode(text),
  );
  const bytes = new Uint8Array(NONCE + sealed.byteLength);
  bytes.set(nonce);
  bytes.set(new Uint8Array(sealed), NONCE);
  return encodeBase64url(bytes);
}

async function unsealWith(key: CryptoKey, sealed: string): Promise<string | undefined> {
  const bytes = decodeBase64url(sealed);
  if (bytes === undefined || bytes.length <= NONCE) return undefined;
  try {
    const iv = bytes.subarray(0, NONCE);
    const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, bytes.subarray(NONCE));
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

/** Seals and opens for one purpose, with a key that is derived once. */
export interface Sealer {
  seal(text: string): Promise<string>;
  unseal(sealed: string): Promise<string | undefined>;
}

/** A {@linkcode Sealer} under a secret that is asked for when it is first needed. */
export function createSealer(secret: () => Promise<Uint8Array>, purpose: string): Sealer {
  let known: CryptoKey | undefined;
  const key = async (): Promise<CryptoKey> => known ??= await deriveKey(await secret(), purpose);
  return {
    seal: async (text) => sealWith(await key(), text),
    unseal: async (sealed) => unsealWith(await key(), sealed),
  };
}
