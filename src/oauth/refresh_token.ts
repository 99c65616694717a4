/**
 * Refresh tokens: `trivet_rt_<grant>.<secret>`. The grant's id leads to the one record that knows which secret
 * works now; a token of the family that does not is a replay.
 *
 * @module
 */
import { randomSecret, secretDigest } from "../crypto/secret.ts";

const PREFIX = "trivet_rt_";

/** A new token of the family, and its digest. */
export function mintRefreshToken(grant: string): { refresh_token: string; digest: string } {
  return toRefreshToken(grant, randomSecret(""));
}

/** The token of the family that has this secret, and its digest. */
export function toRefreshToken(grant: string, secret: string): { refresh_token: string; digest: string } {
  const refresh_token = `${PREFIX}${grant}.${secret}`;
  return { refresh_token, digest: secretDigest(refresh_token) };
}

/** The grant that a token claims to be of; `undefined` when it is no refresh token of ours. */
export function readRefreshToken(token: string): string | undefined {
  return new RegExp(`^${PREFIX}([A-Za-z0-9_-]{22})\\.[A-Za-z0-9_-]{43}$`).exec(token)?.[1];
}
