/**
 * Password hashes with PBKDF2-HMAC-SHA-256 (RFC 8018 section 5.2), the only slow hash in Web Crypto on all runtimes. The
 * iteration count is stored with the hash, so it can be raised later.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { equalInConstantTime, randomBytes } from "./secret.ts";

/** The iterations that OWASP recommends; about 100 ms of one core. */
export const ITERATIONS = 600_000;
/** The iterations that all platforms allow: Cloudflare refuses more. */
export const PORTABLE_ITERATIONS = 100_000;

/** More iterations would take seconds of processor time. */
export const MAX_ITERATIONS = 10_000_000;

/** The result of verifying a password. */
export interface Verification {
  readonly valid: boolean;
  /** The hash has fewer iterations than configured and possible on this platform. Hash the password again. */
  readonly outdated: boolean;
  /** The hash has more iterations than this platform allows, so it cannot be verified here. */
  readonly unsupported: boolean;
}

/** PBKDF2 with 256 bits. Rejects when the platform does not allow so many iterations. */
export type Derive = (
  password: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  iterations: number,
) => Promise<Uint8Array>;

/** Hashes and verifies passwords on one platform. */
export interface PasswordHasher {
  /** `pbkdf2-sha256$<iterations>$<salt>$<hash>`, the salt random and 128 bits; with as many iterations as the platform allows. */
  hash(password: string, iterations?: number): Promise<string>;
  /**
   * Verifies a password. Pass `undefined` for an unknown user: the result is invalid, and takes the same time.
   * @throws {Error} for a malformed hash
   */
  verify(password: string, hash: string | undefined, iterations?: number): Promise<Verification>;
}

/** Creates a hasher. @param derive for tests */
export function createPasswordHasher(derive: Derive = deriveByPlatform): PasswordHasher {
  /** Whether the platform is known to refuse more than `PORTABLE_ITERATIONS`. */
  let capped = false;

  /** The hash and its iterations, which may be fewer than requested if the platform limits them. */
  async function deriveAllowed(password: string, salt: Uint8Array<ArrayBuffer>, iterations: number) {
    // NFC: a password has the same bytes on every keyboard.
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

/** The hasher with the Web Crypto of this platform. */
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
