/**
 * Remembers recently verified passwords as keyed digests, in the memory of this process only. A correct password is then
 * recognized without the slow hash, so that its owner does not wait behind guesses in the queue.
 *
 * @module
 */
import { equalInConstantTime, randomBytes } from "./secret.ts";
import { encodeBase64url } from "./base64url.ts";
import { hmacSha256 } from "./sha256.ts";

/** How long a digest is kept, unless `MAX_REMEMBERED_PASSWORDS` newer ones replace it. */
export const PASSWORD_MEMORY_MS: number = 7 * 24 * 60 * 60 * 1000;
export const MAX_REMEMBERED_PASSWORDS = 10_000;

export interface PasswordMemory {
  /** Whether this password was verified with this hash recently. Takes the same time without a hash. */
  knows(password: string, hash: string | undefined): boolean;
  /** Records that the password was verified with the hash. */
  remember(password: string, hash: string): void;
}

export function createPasswordMemory(now: () => number): PasswordMemory {
  // Made by the first password, so that a start does not load the generator.
  let key: Uint8Array | undefined;
  /** By the stored hash, which is unique for a user and a password because of its random salt. */
  const digests = new Map<string, { readonly digest: string; readonly until: number }>();
  const digestOf = (password: string, hash: string) =>
    encodeBase64url(hmacSha256(key ??= randomBytes(32), `${hash}\n${password.normalize("NFC")}`));

  return {
    knows(password, hash = "") {
      const found = digests.get(hash);
      const matches = equalInConstantTime(digestOf(password, hash), found?.digest ?? "");
      return matches && found !== undefined && found.until > now();
    },
    remember(password, hash) {
      digests.delete(hash);
      digests.set(hash, { digest: digestOf(password, hash), until: now() + PASSWORD_MEMORY_MS });
      if (digests.size > MAX_REMEMBERED_PASSWORDS) digests.delete(digests.keys().next().value!);
    },
  };
}
