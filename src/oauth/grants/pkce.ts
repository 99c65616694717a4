/**
 * Proof Key for Code Exchange (https://www.rfc-editor.org/rfc/rfc7636), S256 only: `plain` does not protect against an
 * attacker who can read the authorization request (RFC 9700 §2.1.1).
 *
 * @module
 */
import { equalInConstantTime, secretDigest } from "../../crypto/secret.ts";
import { isPublic } from "../clients/client.ts";
import { OAuthError } from "../error.ts";
import type { Client } from "../records/client_record.ts";
import type { ProfiledServer } from "../security_profile.ts";

/**
 * The challenge of an authorization request, or `undefined` when a confidential client sent none.
 * @throws {OAuthError} invalid_request for a method other than S256, a malformed or a missing challenge
 */
export function checkChallenge(
  as: ProfiledServer,
  client: Client,
  challenge: string | undefined,
  method: string | undefined,
): string | undefined {
  if (challenge === undefined) {
    if (method !== undefined) {
      throw new OAuthError("invalid_request", "code_challenge_method requires code_challenge");
    }
    if (isPublic(client)) {
      throw new OAuthError("invalid_request", "code_challenge is required for public clients (RFC 7636)");
    }
    if (as.securityProfile !== undefined) {
      throw new OAuthError("invalid_request", "code_challenge is required by FAPI 2.0");
    }
    return undefined;
  }
  // RFC 7636 §4.3: the default method is plain.
  if (method !== "S256") throw new OAuthError("invalid_request", "code_challenge_method must be S256");
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    throw new OAuthError(
      "invalid_request",
      "code_challenge must be 43 characters of A-Z a-z 0-9 - _, the base64url of a SHA-256 digest (RFC 7636 section 4.2)",
    );
  }
  return challenge;
}

/**
 * Verifies the code_verifier (RFC 7636 section 4.6). Both challenge and verifier may be absent.
 * @returns what is wrong; `undefined` when it is valid
 */
export function findVerifierProblem(
  challenge: string | undefined,
  verifier: string | undefined,
): string | undefined {
  if (verifier !== undefined && !/^[A-Za-z0-9\-._~]{43,128}$/.test(verifier)) {
    return "code_verifier must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~ (RFC 7636 section 4.1)";
  }
  // RFC 9700 §4.8.2: a verifier without a challenge shows a PKCE downgrade attack.
  const matches = challenge === undefined || verifier === undefined
    ? challenge === verifier
    : equalInConstantTime(secretDigest(verifier), challenge);
  return matches ? undefined : "code_verifier does not match code_challenge";
}
