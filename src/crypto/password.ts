/**
 * Passwords as PBKDF2-HMAC-SHA-256 (https://www.rfc-editor.org/rfc/rfc8018#section-5.2), the one slow hash that
 * Web Crypto has on every runtime. The iteration count is stored with the hash, so that it can grow.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { equalInConstantTime, randomBytes } from "./secret.ts";

/** What OWASP asks of PBKDF2-HMAC-SHA-256; about 100 ms of one core. */
export const ITERATIONS = 600_000;
/** The most that workerd allows. Hashes made there are upgraded at the next login elsewhere. */
const FEWEST = 100_000;

/** `pbkdf2-sha256$<iterations>$<salt>$<hash>`, the salt random and 128 bits. */
export async function hashPassword(password: string, iterations: number = ITERATIONS): Promise<string> {
  const salt = randomBytes(16);
  try {
    return format(iterations, salt, await derive(password, salt, iterations));
  } catch (error) {
    if (iterations <= FEWEST) throw error;
    return format(FEWEST, salt, await derive(password, salt, FEWEST));
  }
}

/**
 * Whether the password is the hashed one, and whether the hash has fewer iterations than it should.
 * Pass `undefined` for an unknown user: the answer is no, after the same time.
 */
export async function verifyPassword(
  password: string,
  hash: string | undefined,
  iterations: number = ITERATIONS,
): Promise<{ valid: boolean; outdated: boolean }> {
  const [scheme, count, salt, expected] = (hash ?? format(iterations, new Uint8Array(16), "")).split("$");
  const bytes = decodeBase64url(salt ?? "");
  if (scheme !== "pbkdf2-sha256" || bytes === undefined) {
    throw new Error("Cannot read the stored password hash");
  }
  const found = await derive(password, bytes, Number(count));
  return {
    valid: equalInConstantTime(found, expected ?? "") && hash !== undefined,
    outdated: Number(count) < iterations,
  };
}

function format(iterations: number, salt: Uint8Array, hash: string): string {
  return `pbkdf2-sha256$${iterations}$${encodeBase64url(salt)}$${hash}`;
}

async function derive(password: string, salt: Uint8Array<ArrayBuffer>, iterations: number): Promise<string> {
  // NFC: the same password typed on another keyboard is the same bytes.
  const bytes = new TextEncoder().encode(password.normalize("NFC"));
  const key = await crypto.subtle.importKey("raw", bytes, "PBKDF2", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits(
    { name: "PBKDF2", hash: "SHA-256", salt, iterations },
    key,
    256,
  );
  return encodeBase64url(new Uint8Array(bits));
}
