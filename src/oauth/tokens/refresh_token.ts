/**
 * Refresh tokens: `trivet_rt_<grant>.<secret>`. The grant's id leads to the one record that knows which secret works now.
 * The secret ends in a code that only this server can make, so that a token of the family which works no more is told
 * from one that somebody made up: the first is a replay, the second nothing.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { equalInConstantTime, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { hmacSha256, sha256After } from "../../crypto/sha256.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const PREFIX = "trivet_rt_";
const PATTERN = new RegExp(`^${PREFIX}([A-Za-z0-9_-]{22})\\.[A-Za-z0-9_-]{43}$`);
/** Characters of base64url that are random: 126 bits. As many bits follow as the code needs: 132. */
const RANDOM_LENGTH = 21;
const CODE_LENGTH = 22;
/** Of each server, derived once from its secret. */
const keys = new WeakMap<AuthorizationServer, RefreshKey>();

/** Digests under the server's key. */
export type RefreshKey = (text: string) => Uint8Array;

/** What refresh tokens are made with; to be awaited once a request, and at most once a server. */
export function findRefreshKey(as: AuthorizationServer): RefreshKey | Promise<RefreshKey> {
  return keys.get(as) ?? deriveKey(as);
}

/** A new token of the family, and its digest. */
export function mintRefreshToken(key: RefreshKey, grant: string): { refresh_token: string; digest: string } {
  return toRefreshToken(key, grant, randomSecret(""));
}

/** The token of the family that has this secret, and its digest. */
export function toRefreshToken(
  key: RefreshKey,
  grant: string,
  secret: string,
): { refresh_token: string; digest: string } {
  const random = secret.slice(0, RANDOM_LENGTH);
  const refresh_token = `${PREFIX}${grant}.${random}${authenticationCode(key, grant, random)}`;
  return { refresh_token, digest: secretDigest(refresh_token) };
}

/** The grant that a token claims to be of; `undefined` when it is no refresh token of ours. */
export function readRefreshToken(token: string): string | undefined {
  return PATTERN.exec(token)?.[1];
}

/** Whether this server made the token once, whatever became of it. */
export async function isRefreshTokenOfOurs(as: AuthorizationServer, token: string): Promise<boolean> {
  const grant = readRefreshToken(token);
  if (grant === undefined) return false;
  const secret = token.slice(-(RANDOM_LENGTH + CODE_LENGTH));
  const expected = authenticationCode(await findRefreshKey(as), grant, secret.slice(0, RANDOM_LENGTH));
  return equalInConstantTime(secret.slice(RANDOM_LENGTH), expected);
}

/**
 * SHA-256 over the key, as a block, and texts of fixed length, shortened: a quarter of what HMAC takes, and as hard to make
 * without the key, since no message begins with another one.
 */
function authenticationCode(key: RefreshKey, grant: string, random: string): string {
  return encodeBase64url(key(`${grant}.${random}`)).slice(0, CODE_LENGTH);
}

async function deriveKey(as: AuthorizationServer): Promise<RefreshKey> {
  const block = new Uint8Array(64);
  block.set(hmacSha256(await as.secret(), "refresh token"));
  const key = sha256After(block);
  keys.set(as, key);
  return key;
}
