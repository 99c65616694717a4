/**
 * Asks the issuer about a token (https://www.rfc-editor.org/rfc/rfc7662#section-2). An answer is used for a few seconds,
 * and never after the token has expired.
 *
 * @module
 */
import type { Claims } from "../../crypto/jws.ts";
import { secretDigest } from "../../crypto/secret.ts";
import { type PublicFetch, PublicFetchError } from "../../http/network/public_fetch.ts";

export interface IntrospectionOptions {
  /** Finds the URL of the endpoint. */
  readonly endpoint: () => Promise<string>;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly fetchDocument: PublicFetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** How long an answer is used: a revoked token is accepted for at most this long. */
const LIFETIME_MS = 10_000;
/** Answers that are kept: about ten megabytes. The oldest is dropped first. */
const MAX_KEPT = 5000;
/** Requests to the issuer at once: a stranger can send any number of tokens. */
const MAX_CONCURRENT = 64;

interface Kept {
  readonly claims: Claims | undefined;
  readonly from: number;
  readonly until: number;
}

/**
 * Creates a function that returns the claims of an active token, `undefined` for any other.
 * @throws {PublicFetchError} when the issuer does not answer as RFC 7662 says, and when too many requests wait for it
 */
export function createIntrospector(
  options: IntrospectionOptions,
): (token: string) => Promise<Claims | undefined> {
  const { endpoint, clientId, clientSecret, fetchDocument, now } = options;
  const headers = {
    authorization: `Basic ${btoa(`${encodeForm(clientId)}:${encodeForm(clientSecret)}`)}`,
    "content-type": "application/x-www-form-urlencoded",
  };
  /** By the digest of the token. */
  const kept = new Map<string, Kept>();
  let running = 0;

  return async (token) => {
    const digest = secretDigest(token);
    const copy = kept.get(digest);
    const at = now();
    // A clock that was set back makes the age unknown, which counts as old.
    if (copy && at < copy.until && at >= copy.from) return copy.claims;
    if (running >= MAX_CONCURRENT) throw new PublicFetchError("Too many tokens are being introspected");
    running++;
    try {
      const body = new URLSearchParams({ token, token_type_hint: "access_token" }).toString();
      const { text } = await fetchDocument(await endpoint(), { method: "POST", headers, body });
      const claims = readAnswer(text);
      const { exp } = claims ?? {};
      const until = Math.min(at + LIFETIME_MS, typeof exp === "number" ? exp * 1000 : Infinity);
      kept.delete(digest);
      kept.set(digest, { claims, from: at, until });
      if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
      return claims;
    } finally {
      running--;
    }
  };
}

/** RFC 6749 §2.3.1: id and secret are form-encoded before Base64. */
function encodeForm(value: string): string {
  return new URLSearchParams([["", value]]).toString().slice(1);
}

function readAnswer(text: string): Claims | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // As below.
  }
  const { active, ...claims } = typeof answer === "object" && answer !== null ? answer as Claims : {};
  if (typeof active !== "boolean") {
    throw new PublicFetchError("The introspection response must be a JSON object with a boolean active");
  }
  return active ? claims : undefined;
}
