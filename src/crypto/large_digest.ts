/**
 * SHA-256 of data of any size, by Web Crypto: the event loop goes on meanwhile. For short texts `sha256.ts` is faster.
 *
 * @module
 */
import { toHex } from "./hex.ts";

const encoder = new TextEncoder();

/** The digest, 32 bytes. */
export async function digestLarge(data: string | Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = typeof data === "string" ? encoder.encode(data) : data as Uint8Array<ArrayBuffer>;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** A SHA-256 as the text that skills and their files have: `sha256:` and 64 hexadecimal digits. */
export function formatDigest(sha256: Uint8Array): string {
  return "sha256:" + toHex(sha256);
}
