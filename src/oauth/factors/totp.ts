/**
 * Time-based one-time passwords (https://www.rfc-editor.org/rfc/rfc6238): SHA-1, six digits, steps of 30 seconds, which is
 * what authenticator apps expect. Own code, because it is these few lines over Web Crypto.
 *
 * @module
 */
import { toBase32 } from "../../crypto/base32.ts";
import { equalInConstantTime } from "../../crypto/secret.ts";

const STEP_MS = 30_000;
const DIGITS = 6;
/** RFC 4226 section 4, R6: as long as the output of the HMAC. */
export const TOTP_SECRET_BYTES = 20;
/** Steps before and after the present one whose code is accepted too: the clocks of phones differ (section 5.2). */
const WINDOW = 1;

/** The number of a step: section 4.2. @param time milliseconds since the epoch */
export function stepAt(time: number): number {
  return Math.floor(time / STEP_MS);
}

/** The code of a step (RFC 4226 section 5.3). */
export async function totpCode(secret: Uint8Array, step: number, digits: number = DIGITS): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-1" };
  const key = await crypto.subtle.importKey("raw", new Uint8Array(secret), algorithm, false, ["sign"]);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(step));
  const mac = new DataView(await crypto.subtle.sign("HMAC", key, counter.buffer));
  const offset = mac.getUint8(mac.byteLength - 1) & 15;
  const number = mac.getUint32(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The step within the window whose code this is; `undefined` for a wrong code. All codes of the window are compared. */
export async function findStep(secret: Uint8Array, code: string, time: number): Promise<number | undefined> {
  let found: number | undefined;
  for (let step = stepAt(time) - WINDOW; step <= stepAt(time) + WINDOW; step++) {
    if (equalInConstantTime(await totpCode(secret, step), code)) found = step;
  }
  return found;
}

/** What an app reads from the QR code: https://github.com/google/google-authenticator/wiki/Key-Uri-Format. */
export function toOtpauthUri(secret: Uint8Array, issuer: string, account: string): string {
  // The label separates issuer and account by a colon. Apps do not decode a plus sign as a space.
  const part = (text: string): string => encodeURIComponent(text.replaceAll(":", " "));
  return `otpauth://totp/${part(issuer)}:${part(account)}?secret=${toBase32(secret)}&issuer=${part(issuer)}` +
    `&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`;
}
