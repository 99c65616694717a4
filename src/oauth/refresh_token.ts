/**
 * Refresh tokens: `trivet_rt_<grant>.<secret>`. The grant's id leads to the one record that knows which secret
 * works now; a token of the family that does not is a replay.
 *
 * @module
 */
import { derivedSecret, randomSecret, secretDigest } from "../crypto/secret.ts";

const PREFIX = "trivet_rt_";

/** A new token of the family, and its digest. */
export function mintRefreshToken(grant: string): { refresh_token: string; digest: string } {
  const refresh_token = randomSecret(`${PREFIX}${grant}.`);
  return { refresh_token, digest: secretDigest(refresh_token) };
}

/** The token that follows one of the family: who holds that one makes the same again for the same purpose. */
export function succeedRefreshToken(
  grant: string,
  presented: string,
  purpose: string,
): { refresh_token: string; digest: string } {
  const refresh_token = derivedSecret(`${PREFIX}${grant}.`, presented, `refresh token: ${purpose}`);
  return { refresh_token, digest: secretDigest(refresh_token) };
}

/** The grant that a token claims to be of; `undefined` when it is no refresh token of ours. */
export function readRefreshToken(token: string): string | undefined {
  return new RegExp(`^${PREFIX}([A-Za-z0-9_-]{22})\\.[A-Za-z0-9_-]{43}$`).exec(token)?.[1];
}
