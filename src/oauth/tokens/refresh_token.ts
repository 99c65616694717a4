/**
 * Refresh tokens: `trivet_rt_<grant>.<secret>`. The grant id leads to the record that knows the current token. The secret
 * ends in a message authentication code, so that reuse of an old token of the family (a replay) is distinguished from a
 * made-up one.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { equalInConstantTime, randomSecret, secretDigest } from "../../crypto/secret.ts";
import { hmacSha256, sha256After } from "../../crypto/sha256.ts";
import type { AuthorizationServer } from "../authorization_server.ts";

const PREFIX = "trivet_rt_";
const PATTERN = new RegExp(`^${PREFIX}([A-Za-z0-9_-]{22})\\.[A-Za-z0-9_-]{43}$`);
/** Random characters of base64url (126 bits), and those of the authentication code (132 bits). */
const RANDOM_LENGTH = 21;
const CODE_LENGTH = 22;
/** The key of each secret, derived once. */
const keys = new WeakMap<Uint8Array, RefreshKey>();

/** Digests a text under a key of the server. */
export type RefreshKey = (text: string) => Uint8Array;

/** The key for new refresh tokens; a promise only while the secrets of the server are read. */
export function findRefreshKey(
  { secret }: Pick<AuthorizationServer, "secret">,
): RefreshKey | Promise<RefreshKey> {
  const secrets = secret();
  return secrets instanceof Promise
    ? secrets.then(({ current }) => deriveKey(current))
    : deriveKey(secrets.current);
}

/** The keys of the tokens that may be out there: the current one, and those of earlier secrets. */
export async function findRefreshKeys(as: AuthorizationServer): Promise<readonly RefreshKey[]> {
  return (await as.secret()).accepted.map(deriveKey);
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

/** The grant id in a refresh token; `undefined` for text of another form. */
export function readRefreshToken(token: string): string | undefined {
  return PATTERN.exec(token)?.[1];
}

/** Whether this server issued the token, whatever its state is now. */
export async function isRefreshTokenOfOurs(as: AuthorizationServer, token: string): Promise<boolean> {
  const grant = readRefreshToken(token);
  if (grant === undefined) return false;
  const secret = token.slice(-(RANDOM_LENGTH + CODE_LENGTH));
  const random = secret.slice(0, RANDOM_LENGTH);
  return (await findRefreshKeys(as)).some((key) =>
    equalInConstantTime(secret.slice(RANDOM_LENGTH), authenticationCode(key, grant, random))
  );
}

/**
 * SHA-256 over the key as a whole block and a text of fixed length, truncated. This takes a quarter of the time of HMAC and
 * is as hard to forge, because no message is a prefix of another one.
 */
function authenticationCode(key: RefreshKey, grant: string, random: string): string {
  return encodeBase64url(key(`${grant}.${random}`)).slice(0, CODE_LENGTH);
}

function deriveKey(secret: Uint8Array): RefreshKey {
  const known = keys.get(secret);
  if (known) return known;
  const block = new Uint8Array(64);
  block.set(hmacSha256(secret, "refresh token"));
  const key = sha256After(block);
  keys.set(secret, key);
  return key;
}
