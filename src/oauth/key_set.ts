/**
 * Public keys of somebody else, given with a client or an issuer, or fetched from an address: finding the one that an
 * assertion was signed with.
 *
 * @module
 */
import { algorithmsOf, checkJwk, importPublicJwk, type PublicJwk } from "../crypto/jwk.ts";
import { type Claims, JWS_ALGORITHMS, readJws, verifyJws } from "../crypto/jws.ts";
import { secretDigest } from "../crypto/secret.ts";
import { PublicFetchError } from "../http/public_fetch.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { keySetKey } from "./records.ts";

/** Where somebody's keys are. */
export interface KeySource {
  readonly jwks?: { readonly keys: readonly PublicJwk[] };
  readonly jwks_uri?: string;
}

interface KeySet {
  readonly keys: readonly PublicJwk[];
  readonly fetched: number;
}

/** How long fetched keys are gone by, in milliseconds. */
const LIVES = 10 * 60 * 1000;
/** How soon a key id that is not among them may make us fetch again, in milliseconds. */
const LOOK_AGAIN = 60 * 1000;
/** Keys tried where the token names none. */
const MOST_TRIED = 5;

/**
 * The header and claims of a JWT that one of the source's keys signed; `undefined` when none did.
 * @param typ what its header must say it is; any, when left out
 * @throws {PublicFetchError} when the keys cannot be fetched
 */
export async function verifyBySource(
  as: AuthorizationServer,
  source: KeySource,
  token: string,
  typ?: string,
): Promise<{ header: Claims; claims: Claims } | undefined> {
  const header = readJws(token)?.header;
  const alg = JWS_ALGORITHMS.find((each) => each === header?.alg);
  if (!header || !alg) return undefined;
  // Only the id is looked up: a header that brings its own key or address is not listened to.
  const { kid } = header;
  const keys = await findKeys(
    as,
    source,
    (key) =>
      algorithmsOf(key).includes(alg) && (key.alg === undefined || key.alg === alg) && key.use !== "enc" &&
      (kid === undefined || key.kid === kid),
  );
  for (const jwk of keys.slice(0, MOST_TRIED)) {
    const claims = await importPublicJwk(jwk, alg).then((key) => verifyJws(key, typ, token), () => undefined);
    if (claims) return { header, claims };
  }
  return undefined;
}

/**
 * The keys that fit. Fetched ones are gone by for a while, but looked for again when none of them fits.
 * @throws {PublicFetchError} when the keys cannot be fetched
 */
export async function findKeys(
  as: AuthorizationServer,
  { jwks, jwks_uri }: KeySource,
  fits: (key: PublicJwk) => boolean = () => true,
): Promise<readonly PublicJwk[]> {
  const fit = ({ keys }: { readonly keys: readonly PublicJwk[] }) => keys.filter(fits);
  if (jwks) return fit(jwks);
  if (jwks_uri === undefined) return [];
  const key = keySetKey(secretDigest(jwks_uri));
  const kept = (await as.store.get<KeySet>(key))?.value;
  const found = kept ? fit(kept) : [];
  if (kept && (found.length > 0 || as.now() - kept.fetched < LOOK_AGAIN)) return found;
  const fetched: KeySet = { keys: await fetchKeys(as, jwks_uri), fetched: as.now() };
  await as.store.commit({ set: [{ key, value: fetched, expires: as.now() + LIVES }] });
  return fit(fetched);
}

async function fetchKeys(as: AuthorizationServer, jwks_uri: string): Promise<readonly PublicJwk[]> {
  const { text } = await as.fetchPublic(jwks_uri);
  try {
    const { keys } = JSON.parse(text) as { keys: unknown[] };
    return keys.slice(0, 50).map(checkJwk).filter((key) => typeof key !== "string");
  } catch {
    throw new PublicFetchError("The key set must be a JSON object with keys");
  }
}
