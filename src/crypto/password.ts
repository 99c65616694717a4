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
/** The most that every platform allows: Cloudflare refuses more. */
export const PORTABLE_ITERATIONS = 100_000;

/** More would hold a processor for seconds. */
export const MAX_ITERATIONS = 10_000_000;

/** What verifying a password found. */
export interface Verification {
  readonly valid: boolean;
  /** The hash has fewer iterations than it should and this platform can. */
  readonly outdated: boolean;
  /** The hash has more iterations than this platform allows: nobody can sign in with it here. */
  readonly unsupported: boolean;
}

/** PBKDF2 as the platform has it: 256 bits. Rejects where it allows fewer iterations. */
export type Derive = (
  password: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  iterations: number,
) => Promise<Uint8Array>;

/** Hashing and verifying on one platform. */
export interface PasswordHasher {
  /** `pbkdf2-sha256$<iterations>$<salt>$<hash>`, the salt random and 128 bits; with as many iterations as the platform allows. */
  hash(password: string, iterations?: number): Promise<string>;
  /**
   * Whether the password is the hashed one. Pass `undefined` for an unknown user: the answer is no, after the same time.
   * @throws {Error} for a stored text that is no hash
   */
  verify(password: string, hash: string | undefined, iterations?: number): Promise<Verification>;
}

/** A hasher by this `derive`: the platform's own unless a test has another. */
export function createPasswordHasher(derive: Derive = deriveByPlatform): PasswordHasher {
  /** Whether the platform refused more than it allows everywhere; what is known once holds for all. */
  let capped = false;

  /** The hash, and with how many iterations it was made: fewer than asked for where the platform allows no more. */
  async function deriveAllowed(password: string, salt: Uint8Array<ArrayBuffer>, iterations: number) {
    // NFC: the same password typed on another keyboard is the same bytes.
    const bytes = new TextEncoder().encode(password.normalize("NFC"));
    if (!capped || iterations <= PORTABLE_ITERATIONS) {
      try {
        return { hash: encodeBase64url(await derive(bytes, salt, iterations)), iterations };
      } catch (error) {
        if (iterations <= PORTABLE_ITERATIONS) throw error;
      }
    }
    const hash = encodeBase64url(await derive(bytes, salt, PORTABLE_ITERATIONS));
    capped = true;
    return { hash, iterations: PORTABLE_ITERATIONS };
  }

  return {
    async hash(password, iterations = ITERATIONS) {
      const salt = randomBytes(16);
      const made = await deriveAllowed(password, salt, iterations);
      return `pbkdf2-sha256$${made.iterations}$${encodeBase64url(salt)}$${made.hash}`;
    },
    async verify(password, hash, iterations = ITERATIONS) {
      const { count, salt, expected } = hash === undefined
        ? { count: iterations, salt: new Uint8Array(16), expected: "" }
        : parseHash(hash);
      const found = await deriveAllowed(password, salt, count);
      const wanted = capped ? Math.min(iterations, PORTABLE_ITERATIONS) : iterations;
      return {
        valid: equalInConstantTime(found.hash, expected) && found.iterations === count && hash !== undefined,
        outdated: count < wanted,
        unsupported: found.iterations !== count && hash !== undefined,
      };
    },
  };
}

/** The hasher of this process. */
export const passwords: PasswordHasher = createPasswordHasher();

function parseHash(hash: string): { count: number; salt: Uint8Array<ArrayBuffer>; expected: string } {
  const [scheme, count, salt = "", expected = ""] = hash.split("$");
  const bytes = decodeBase64url(salt);
  const iterations = Number(count);
  const isCount = Number.isInteger(iterations) && iterations >= 1 && iterations <= MAX_ITERATIONS;
  if (scheme !== "pbkdf2-sha256" || bytes === undefined || !isCount) {
    throw new Error("Cannot read the stored password hash");
  }
  return { count: iterations, salt: bytes, expected };
}

async function deriveByPlatform(
  password: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  iterations: number,
): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
  const bits = await crypto.subtle.deriveBits(
    { name: "PBKDF2", hash: "SHA-256", salt, iterations },
    key,
    256,
  );
  return new Uint8Array(bits);
}
