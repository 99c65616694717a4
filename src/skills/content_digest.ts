/**
 * The digest that identifies the content of a file in the API, in manifests and in the store: `sha256:` and 64
 * hexadecimal digits.
 *
 * @module
 */
import { toHex } from "../crypto/hex.ts";

/** The digest of a content, as text. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  return formatDigest(
    new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)),
  );
}

/** A SHA-256 that was computed already, as text. */
export function formatDigest(sha256: Uint8Array): string {
  return "sha256:" + toHex(sha256);
}
