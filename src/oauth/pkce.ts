/**
 * Proof Key for Code Exchange (https://www.rfc-editor.org/rfc/rfc7636), S256 only: `plain` protects nobody who
 * can see the request (RFC 9700 §2.1.1).
 *
 * @module
 */
import { encodeBase64url } from "../crypto/base64url.ts";
import { equalInConstantTime } from "../crypto/secret.ts";
import { sha256 } from "../crypto/sha256.ts";
import { isPublic } from "./client.ts";
import { OAuthError } from "./error.ts";
import type { Client } from "./records.ts";

/**
 * The challenge of an authorization request, or `undefined` when a confidential client sent none.
 * @throws {OAuthError} invalid_request for a method other than S256, a malformed or a missing challenge
 */
export function checkChallenge(
  client: Client,
  challenge: string | undefined,
  method: string | undefined,
): string | undefined {
  if (challenge === undefined) {
    if (method !== undefined) {
      throw new OAuthError("invalid_request", "code_challenge_method needs a code_challenge");
    }
    if (isPublic(client)) {
      throw new OAuthError("invalid_request", "A public client must send code_challenge (RFC 7636)");
    }
    return undefined;
  }
  // RFC 7636 §4.3: without a method it would be plain.
  if (method !== "S256") throw new OAuthError("invalid_request", "code_challenge_method must be S256");
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    throw new OAuthError("invalid_request", "code_challenge must be the base64url of a SHA-256 digest");
  }
  return challenge;
}

/** Whether the verifier belongs to the challenge of its code (RFC 7636 §4.6); both may be absent together. */
export function verifierMatches(challenge: string | undefined, verifier: string | undefined): boolean {
  // RFC 9700 §4.8.2: a verifier without a challenge is a downgrade attempt, not a harmless extra.
  if (challenge === undefined || verifier === undefined) return challenge === verifier;
  // RFC 7636 §4.1
  if (!/^[A-Za-z0-9\-._~]{43,128}$/.test(verifier)) return false;
  return equalInConstantTime(encodeBase64url(sha256(verifier)), challenge);
}
