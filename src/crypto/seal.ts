/**
 * Encrypts and authenticates text with AES-256-GCM. The key is derived from a secret and a purpose, so that text sealed for
 * one purpose cannot be used for another.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { randomBytes } from "./secret.ts";
import type { FindSecrets, ServerSecrets } from "./server_secrets.ts";
import { hmacSha256 } from "./sha256.ts";

const NONCE_BYTES = 12;
const encoder = new TextEncoder();

/** Encrypts and authenticates the text. The result is base64url. */
export async function seal({ current }: ServerSecrets, purpose: string, text: string): Promise<string> {
  return sealWith(await deriveKey(current, purpose), text);
}

/** The text, if it was sealed with one of these secrets for this purpose; otherwise `undefined`. */
export async function unseal(
  { accepted }: ServerSecrets,
  purpose: string,
  sealed: string,
): Promise<string | undefined> {
  for (const secret of accepted) {
    const text = await unsealWith(await deriveKey(secret, purpose), sealed);
    if (text !== undefined) return text;
  }
  return undefined;
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

/** Seals and unseals for one purpose, with keys that are derived once. */
export interface Sealer {
  /** @param boundTo associated data: only with the same text it is unsealed, such as the key of its record */
  seal(text: string, boundTo?: string): Promise<string>;
  unseal(sealed: string, boundTo?: string): Promise<string | undefined>;
  /** The same text, sealed with the current secret; `undefined` when it is already, and when it cannot be unsealed. */
  reseal(sealed: string, boundTo?: string): Promise<string | undefined>;
}

/** Creates a {@linkcode Sealer}. */
export function createSealer(secret: FindSecrets, purpose: string): Sealer {
  const keys = new WeakMap<Uint8Array, CryptoKey>();
  async function keyOf(secret: Uint8Array): Promise<CryptoKey> {
    const key = keys.get(secret) ?? await deriveKey(secret, purpose);
    keys.set(secret, key);
    return key;
  }
  async function unsealAny(
    secrets: readonly Uint8Array[],
    sealed: string,
    boundTo?: string,
  ): Promise<string | undefined> {
    for (const each of secrets) {
      const text = await unsealWith(await keyOf(each), sealed, boundTo);
      if (text !== undefined) return text;
    }
    return undefined;
  }
  return {
    seal: async (text, boundTo) => sealWith(await keyOf((await secret()).current), text, boundTo),
    unseal: async (sealed, boundTo) => unsealAny((await secret()).accepted, sealed, boundTo),
    async reseal(sealed, boundTo) {
      const { current, accepted } = await secret();
      if (await unsealAny([current], sealed, boundTo) !== undefined) return undefined;
      const text = await unsealAny(accepted, sealed, boundTo);
      return text === undefined ? undefined : sealWith(await keyOf(current), text, boundTo);
    },
  };
}
