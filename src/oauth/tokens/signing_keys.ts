/**
 * The signing keys: created at first use, kept in the store for all instances, and rotated automatically. A new key is
 * published before it signs, and an old one until its last token has expired, so that resource servers that cache
 * `/.well-known/jwks.json` find the key of every token.
 *
 * @module
 */
import { importPublicJwk, type PrivateJwk, type PublicJwk } from "../../crypto/jwk.ts";
import { ALGORITHMS, type JwsAlgorithm, type JwsKey } from "../../crypto/jws.ts";
import { randomId } from "../../crypto/secret.ts";
import { type Entry, listAll, type Store } from "../../store/store.ts";
import { type SigningKey, signingKeyKey } from "../records/token_record.ts";

export interface SigningKeys {
  /** The key to sign with. @param alg the first of `signingAlgorithms` by default */
  current(alg?: JwsAlgorithm): Promise<JwsKey>;
  /** The public key with this id; `undefined` when the server does not have it, or no longer. */
  find(kid: string): Promise<JwsKey | undefined>;
  /** The JWK Set (RFC 7517 §5) of next, current and retired public keys. */
  publish(): Promise<{ keys: readonly object[] }>;
}

export interface SigningKeyOptions {
  readonly store: Store;
  readonly now: () => number;
  /** The first is the default. */
  readonly signingAlgorithms: readonly JwsAlgorithm[];
  /** Seconds that a key signs. */
  readonly signingKeyLifetime: number;
  /** Seconds between publishing a key and signing with it. */
  readonly signingKeyNotice: number;
  /** The longest lifetime of a signed token, in seconds. */
  readonly maxTokenLifetime: number;
}

/** A key that can be used. */
export interface LoadedSigningKey {
  readonly record: SigningKey;
  readonly verify: JwsKey;
  readonly sign: JwsKey;
}

/** How long keys that were read from the store are used: well below every `signingKeyNotice`. */
const CACHE_MS = 60_000;
/** How often unknown key ids may cause a read: anyone can send one. */
const MIN_REREAD_MS = 5000;
/** How often, and how many times, a request polls while another one reads the keys for an unknown id. */
const POLL_INTERVAL_MS = 10;
const MAX_POLLS = 200;
/** By how much the clocks of resource servers may be behind. */
export const CLOCK_SKEW_MS = 3600_000;

/** Caches values and never promises, because on Workers a promise ends with its request. */
export function createSigningKeys(options: SigningKeyOptions): SigningKeys {
  const { store, now, signingAlgorithms } = options;
  const lifetime = options.signingKeyLifetime * 1000;
  const notice = options.signingKeyNotice * 1000;
  const longest = options.maxTokenLifetime * 1000 + CLOCK_SKEW_MS;
  let loaded: readonly (LoadedSigningKey & { readonly version: string })[] = [];
  let read = -Infinity;
  let readForUnknown = -Infinity;
  let isReadingForUnknown = false;

  async function readAll(): Promise<void> {
    const entries = await Array.fromAsync(listAll<SigningKey>(store, ["signing_key"]));
    await extendRetired(entries);
    const usable = entries.filter(({ value }) => value.starts !== undefined);
    loaded = await Promise.all(
      usable.map(async ({ value: record, version }) => {
        const known = loaded.find((each) => each.record.kid === record.kid);
        return { ...known ?? await importSigningKey(record), record, version };
      }),
    );
    signing.clear();
    read = now();
  }

  /** Who rotated the keys may not have known how long the tokens of this server are valid. */
  async function extendRetired(entries: readonly Entry<SigningKey>[]): Promise<void> {
    for (const [i, { key, version, value, expires }] of entries.entries()) {
      const next = entries[i + 1]?.value;
      if (expires === undefined || next?.alg !== value.alg || expires >= next.starts + longest) continue;
      // After a lost race another instance has written it, or it is read again within a minute.
      await store.commit({
        check: [{ key, version }],
        set: [{ key, value, expires: next.starts + longest }],
      });
    }
  }

  /** Whether the cache is that old. A clock that was set back makes its age unknown, which counts as old. */
  const isOlderThan = (milliseconds: number) => now() - read >= milliseconds || now() < read;

  /** The keys of one algorithm, oldest first. */
  const generations = (alg: JwsAlgorithm) => loaded.filter(({ record }) => record.alg === alg);
  const isDue = (alg: JwsAlgorithm, at: number) =>
    (generations(alg).at(-1)?.record.starts ?? -Infinity) + lifetime - notice <= at;
  /** The key of each algorithm, and until when it is the current one or the cache must be read again. */
  const signing = new Map<JwsAlgorithm, { readonly key: JwsKey; readonly until: number }>();

  function choose(alg: JwsAlgorithm): JwsKey {
    const at = now();
    const all = generations(alg);
    // By this clock no key may have started: the clock of the instance that created the first one may be ahead.
    const index = Math.max(0, all.findLastIndex(({ record }) => record.starts <= at));
    const key = all[index]!.sign;
    const dueAt = all.at(-1)!.record.starts + lifetime - notice;
    const until = Math.min(read + CACHE_MS, dueAt, all[index + 1]?.record.starts ?? Infinity);
    signing.set(alg, { key, until });
    return key;
  }

  /** Adds the next key. When instances do so at once, one writes it and the others read it. */
  async function add(alg: JwsAlgorithm): Promise<void> {
    const at = now();
    const newest = generations(alg).at(-1);
    const last = newest?.record;
    const generation = (last?.generation ?? -1) + 1;
    const starts = last ? Math.max(last.starts + lifetime, at + notice) : at;
    const { kid, jwk } = await generateSigningKey(alg);
    const key = signingKeyKey(alg, generation);
    const value: SigningKey = { kid, alg, jwk, generation, created: at, starts };
    const old = newest && { key: signingKeyKey(alg, newest.record.generation), version: newest.version };
    await store.commit({
      // The last key may have been revoked since it was read: then it must not come back.
      check: [{ key, version: null }, ...(old ? [old] : [])],
      set: [{ key, value }, ...(old ? [{ key: old.key, value: last, expires: starts + longest }] : [])],
    });
    await readAll();
  }

  async function ensureKeys(alg: JwsAlgorithm): Promise<void> {
    if (isOlderThan(CACHE_MS)) await readAll();
    if (isDue(alg, now())) await add(alg);
  }

  /** Another instance may sign with a key that was added a moment ago. Requests during the read wait for it. */
  async function readAgain(): Promise<void> {
    // Polling, because on workerd a request must not wait for a promise of another request.
    for (let polls = 0; isReadingForUnknown && polls < MAX_POLLS; polls++) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
    const at = now();
    if (at - readForUnknown < MIN_REREAD_MS && at >= readForUnknown) return;
    isReadingForUnknown = true;
    try {
      await readAll();
      // Not when it failed: while the store is down no token counts as invalid.
      readForUnknown = at;
    } finally {
      isReadingForUnknown = false;
    }
  }

  return {
    async current(alg = signingAlgorithms[0]!) {
      const chosen = signing.get(alg);
      if (chosen && now() < chosen.until && !isOlderThan(CACHE_MS)) return chosen.key;
      await ensureKeys(alg);
      return choose(alg);
    },
    async find(kid) {
      const known = () => loaded.find(({ record }) => record.kid === kid)?.verify;
      if (isOlderThan(CACHE_MS)) await readAll();
      if (!known()) await readAgain();
      return known();
    },
    async publish() {
      // RFC 9068 §2: a key is published before the first token is signed with it.
      for (const alg of signingAlgorithms) await ensureKeys(alg);
      return {
        keys: loaded.map(({ record: { kid, alg, jwk } }) => ({ ...publicPart(jwk), kid, alg, use: "sig" })),
      };
    },
  };
}

/** A new key. */
export async function generateSigningKey(alg: JwsAlgorithm): Promise<{ kid: string; jwk: PrivateJwk }> {
  const { privateKey } = await crypto.subtle.generateKey(ALGORITHMS[alg].generate, true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const { key_ops: _, ext: __, alg: ___, ...jwk } = await crypto.subtle.exportKey(
    "jwk",
    privateKey,
  ) as JsonWebKey & PrivateJwk;
  return { kid: randomId("key_"), jwk };
}

/** The keys of a record. @throws {Error} for one that cannot be read */
export async function importSigningKey(record: SigningKey): Promise<LoadedSigningKey> {
  const { kid, alg, jwk } = record;
  const key = await crypto.subtle.importKey("jwk", { ...jwk }, ALGORITHMS[alg].key, false, ["sign"]);
  return { record, sign: { kid, alg, key }, verify: await importPublicJwk({ ...publicPart(jwk), kid }, alg) };
}

function publicPart({ kty, crv, x, y, n, e }: PrivateJwk): PublicJwk {
  return JSON.parse(JSON.stringify({ kty, crv, x, y, n, e }));
}

/** What decides how long tokens are valid, in seconds. */
interface TokenLifetimes {
  readonly accessTokenLifetime: number;
  readonly resources: readonly { readonly accessTokenLifetime?: number }[];
  readonly openid: { readonly idTokenLifetime: number } | undefined;
}

/** Seconds for which a token may have to be verified after its key stopped signing. */
export function maxTokenLifetime({ accessTokenLifetime, resources, openid }: TokenLifetimes): number {
  return Math.max(
    accessTokenLifetime,
    openid?.idTokenLifetime ?? 0,
    ...resources.map((each) => each.accessTokenLifetime ?? 0),
  );
}
