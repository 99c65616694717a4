/**
 * Recovery codes: each replaces the second factor once. They have 80 random bits, so that a digest protects them in the
 * store as it does other random secrets, and guessing is hopeless.
 *
 * @module
 */
import { toBase32 } from "../../crypto/base32.ts";
import { randomBytes, secretDigest } from "../../crypto/secret.ts";

const RECOVERY_CODES = 10;
const CODE_BYTES = 10;

/** New codes: sixteen characters of base32 in groups of four. */
export function createRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    return toBase32(randomBytes(CODE_BYTES)).toLowerCase().replace(/.{4}(?=.)/g, "$&-");
  });
}

/** What is stored of a code; `undefined` for a text that is no code. Case, spaces and hyphens do not matter. */
export function recoveryDigest(text: string): string | undefined {
  const code = text.replace(/[\s-]/g, "").toLowerCase();
  return /^[a-z2-7]{16}$/.test(code) ? secretDigest("recovery code " + code) : undefined;
}
