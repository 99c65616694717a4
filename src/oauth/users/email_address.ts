/**
 * E-mail addresses: which are accepted, and how they are compared. An address is unique only once its user has verified it,
 * and it never links accounts.
 *
 * @module
 */
import { latePattern } from "../../text/late_pattern.ts";
import type { User } from "../records/user_record.ts";

/** RFC 5321 section 4.5.3.1. */
const MAX_CHARACTERS = 254;
const MAX_LOCAL_CHARACTERS = 64;
/** RFC 5322 section 3.2.3 (`dot-atom`) and RFC 6532: no quoted local parts, no comments, no literals. */
const ATOM = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]+";
const LOCAL_PART = latePattern(`^${ATOM}(?:\\.${ATOM})*$`, "u");
const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?`;
const DOMAIN = latePattern(String.raw`^(?:${LABEL}\.)*${LABEL}$`, "u");

/** Whether mail can be sent to this text. Nothing in it ends a header field or names a second recipient. */
export function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at < 1 || text.length > MAX_CHARACTERS || at > MAX_LOCAL_CHARACTERS) return false;
  return LOCAL_PART().test(text.slice(0, at)) && DOMAIN().test(text.slice(at + 1));
}

/** The form in which addresses are compared. Mail is sent to the address as its user wrote it, never to this form. */
export function canonicalEmail(email: string): string {
  return email.normalize("NFKC").toLowerCase();
}

/** Whether this is the address of the user, and they verified it. */
export function isVerifiedAs({ email: own, email_verified }: User, email: string): boolean {
  return email_verified !== undefined && canonicalEmail(own) === canonicalEmail(email);
}
