/**
 * The form of an issuer identifier.
 *
 * @module
 */
import { invalidOption } from "./option_check.ts";

/**
 * The issuer as the URLs of requests have it: clients compare it as text (RFC 8414 section 3.3), and it would differ from
 * the origin of its own endpoints. It may end with a slash.
 */
export function toCanonicalIssuer(issuer: string): string {
  const { href } = new URL(issuer);
  return issuer.endsWith("/") ? href : href.replace(/\/$/, "");
}

/** @throws {TypeError} for a URL in another form */
export function checkCanonicalIssuer(issuer: string): void {
  const canonical = toCanonicalIssuer(issuer);
  if (canonical === issuer) return;
  throw invalidOption("issuer", `in its canonical form, "${canonical}"`, issuer);
}
