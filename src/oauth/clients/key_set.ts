/**
 * Public keys of clients and issuers, registered or fetched from `jwks_uri`, and finding the key that signed a JWT.
 *
 * @module
 */
import { algorithmsOf, checkJwk, importPublicJwk, type PublicJwk } from "../../crypto/jwk.ts";
import {
  type Claims,
  hasSignature,
  type JwsAlgorithm,
  type JwsKey,
  readJws,
  verifyJws,
} from "../../crypto/jws.ts";
import { type PublicDocument, PublicFetchError } from "../../http/network/public_fetch.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { acceptedAlgorithms, type ProfiledServer } from "../security_profile.ts";

/** Where the keys are, and whose request causes a fetch. */
export interface KeySource {
  readonly jwks?: { readonly keys: readonly PublicJwk[] };
  readonly jwks_uri?: string;
  /** The network of the caller who sent the JWT. */
  readonly network: string | undefined;
  /** Whether the operator registered them. */
  readonly isKnown: boolean;
  /** Which of the keys may have signed the JWT. @default all */
  accepts?(key: PublicJwk): boolean;
}

/** How long fetched keys are used. */
const LIFETIME_MS = 10 * 60 * 1000;
/** How often an unknown key id may cause another fetch. */
const MIN_REFETCH_MS = 60 * 1000;
/** Keys of a set, and keys that are tried when the JWT names none. */
const MAX_KEYS = 50;
const MAX_TRIED = 5;

type KeyFetcher = Pick<AuthorizationServer, "documents"> & ProfiledServer;

/** Imported keys, for as long as the set that they came with is cached. */
const imported = new WeakMap<PublicJwk, Map<JwsAlgorithm, JwsKey>>();

/**
 * The header and claims of a JWT that one of these keys signed; `undefined` when none did.
 * @param typ the `typ` that its header must have; any, when left out
 * @param read the result of `readJws` for this token, if it was read before
 * @throws {PublicFetchError} when the keys cannot be fetched
 */
export async function verifyBySource(
  as: KeyFetcher,
  source: KeySource,
  token: string,
  typ?: string,
  read: ReturnType<typeof readJws> = readJws(token),
): Promise<{ header: Claims; claims: Claims } | undefined> {
  const header = read?.header;
  const alg = acceptedAlgorithms(as).find((each) => each === header?.alg);
  // Without a signature of the right form no key is fetched.
  if (!header || !alg || !hasSignature(token, alg)) return undefined;
  // Only kid is used: jwk, jku and x5u in the header are ignored.
  const { kid } = header;
  const fits = (key: PublicJwk) =>
    algorithmsOf(key).includes(alg) && (key.alg === undefined || key.alg === alg) && key.use !== "enc" &&
    (kid === undefined || key.kid === kid) && (source.accepts?.(key) ?? true);
  let tried: readonly PublicJwk[] = [];
  // The second time with newer keys: a key may have been replaced by one with the same kid, or with none.
  for (const maxAge of [Infinity, MIN_REFETCH_MS]) {
    const keys = (await findKeys(as, source, fits, maxAge)).slice(0, MAX_TRIED);
    if (keys.every((key) => tried.includes(key))) return undefined;
    for (const jwk of keys) {
      const key = await importOnce(jwk, alg);
      const claims = key && await verifyJws(key, typ, token, read);
      if (claims) return { header, claims };
    }
    tried = keys;
  }
  return undefined;
}

/** The imported key; `undefined` for an invalid one. */
async function importOnce(jwk: PublicJwk, alg: JwsAlgorithm): Promise<JwsKey | undefined> {
  let keys = imported.get(jwk);
  let key = keys?.get(alg);
  if (key) return key;
  key = await importPublicJwk(jwk, alg).catch(() => undefined);
  if (!keys) imported.set(jwk, keys = new Map());
  if (key) keys.set(alg, key);
  return key;
}

/**
 * The keys that fit. Fetched keys are cached, and fetched again when none of them fits.
 * @param maxAge of fetched keys, in milliseconds
 * @throws {PublicFetchError} when the keys cannot be fetched
 */
export async function findKeys(
  as: KeyFetcher,
  { jwks, jwks_uri, network, isKnown }: KeySource,
  fits: (key: PublicJwk) => boolean = () => true,
  maxAge: number = Infinity,
): Promise<readonly PublicJwk[]> {
  if (jwks) return jwks.keys.filter(fits);
  if (jwks_uri === undefined) return [];
  const request = { kind: "keys", url: jwks_uri, network, isKnown, maxAge, read: readKeys } as const;
  const found = (await as.documents.get(request)).value.filter(fits);
  if (found.length > 0) return found;
  return (await as.documents.get({ ...request, maxAge: MIN_REFETCH_MS })).value.filter(fits);
}

function readKeys({ text }: PublicDocument): { value: readonly PublicJwk[]; lifetime: number } {
  try {
    const { keys } = JSON.parse(text) as { keys: unknown[] };
    const value = keys.slice(0, MAX_KEYS).map(checkJwk).filter((key) => typeof key !== "string");
    return { value, lifetime: LIFETIME_MS };
  } catch {
    throw new PublicFetchError("The JWK Set must be a JSON object with an array keys");
  }
}
