/**
 * The keys that sign: made at first use, kept in the store, the same on every instance, replaced by themselves. A new
 * key is published a while before it signs, an old one for as long as its last token may live, so that whoever caches
 * `/.well-known/jwks.json` never meets a key that it cannot find.
 *
 * @module
 */
import { importPublicJwk, type PublicJwk } from "../../crypto/jwk.ts";
import { ALGORITHMS, type JwsAlgorithm, type JwsKey } from "../../crypto/jws.ts";
import { randomId } from "../../crypto/secret.ts";
import type { Store } from "../../store/store.ts";
import { type SigningKey, signingKeyKey } from "../records.ts";

export interface SigningKeys {
  /** The key to sign with; the server's first algorithm when none is named. */
  current(alg?: JwsAlgorithm): Promise<JwsKey>;
  /** The public key with this id; `undefined` when it is not, or no longer, one of ours. */
  find(kid: string): Promise<JwsKey | undefined>;
  /** The public keys as RFC 7517 §5 writes them: next, current and retired ones. */
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
  /** Seconds that the longest-lived signed token lives. */
  readonly longestTokenLifetime: number;
}

interface Loaded {
  readonly record: SigningKey;
  readonly verify: JwsKey;
  readonly sign: JwsKey;
}

/** How long what was read from the store is gone by, in milliseconds: well below every notice. */
const REREAD = 60_000;
/** How often a key id that is not known may make us read, in milliseconds: strangers send such ids. */
const LOOK_AGAIN = 5000;
/** Clocks of resource servers may be behind, in milliseconds. */
const SLACK = 3600_000;

/** Key sets by way of the store. Values are remembered, never promises: on Workers those end with their request. */
export function createSigningKeys(options: SigningKeyOptions): SigningKeys {
  const { store, now, signingAlgorithms } = options;
  const lifetime = options.signingKeyLifetime * 1000;
  const notice = options.signingKeyNotice * 1000;
  const longest = options.longestTokenLifetime * 1000 + SLACK;
  let loaded: readonly Loaded[] = [];
  let read = -Infinity;

  async function readAll(): Promise<void> {
    const entries = await store.list<SigningKey>(["signing_key"]);
    const records = entries.map((entry) => entry.value).filter((record) => record.starts !== undefined);
    loaded = await Promise.all(
      records.map((record) => loaded.find((each) => each.record.kid === record.kid) ?? load(record)),
    );
    read = now();
  }

  /** Whether what was read is so many milliseconds old, or the clock was set back since: nobody knows how old it is then. */
  const isOlderThan = (milliseconds: number) => now() - read >= milliseconds || now() < read;

  /** Of one algorithm, oldest first. */
  const generations = (alg: JwsAlgorithm) => loaded.filter(({ record }) => record.alg === alg);
  const isDue = (alg: JwsAlgorithm, at: number) =>
    (generations(alg).at(-1)?.record.starts ?? -Infinity) + lifetime - notice <= at;
  /** What signs until when: nothing changes sooner than what was read is read again. */
  const signing = new Map<JwsAlgorithm, { readonly key: JwsKey; readonly until: number }>();

  function choose(alg: JwsAlgorithm): JwsKey {
    const at = now();
    const all = generations(alg);
    // None may have begun by this clock: the instance that wrote the first key is a little ahead of this one.
    const index = Math.max(0, all.findLastIndex(({ record }) => record.starts <= at));
    const key = all[index]!.sign;
    const dueAt = all.at(-1)!.record.starts + lifetime - notice;
    const until = Math.min(read + REREAD, dueAt, all[index + 1]?.record.starts ?? Infinity);
    signing.set(alg, { key, until });
    return key;
  }

  /** Adds the next key. Of instances that come together one writes; the others read what it wrote. */
  async function add(alg: JwsAlgorithm): Promise<void> {
    const at = now();
    const last = generations(alg).at(-1)?.record;
    const generation = (last?.generation ?? -1) + 1;
    const starts = last ? Math.max(last.starts + lifetime, at + notice) : at;
    const { kid, jwk } = await generate(alg);
    const key = signingKeyKey(alg, generation);
    const value: SigningKey = { kid, alg, jwk, generation, created: at, starts };
    await store.commit({
      check: [{ key, version: null }],
      set: [
        { key, value },
        ...(last
          ? [{ key: signingKeyKey(alg, last.generation), value: last, expires: starts + longest }]
          : []),
      ],
    });
    await readAll();
  }

  async function keep(alg: JwsAlgorithm): Promise<void> {
    if (isOlderThan(REREAD)) await readAll();
    if (isDue(alg, now())) await add(alg);
  }

  return {
    async current(alg = signingAlgorithms[0]!) {
      const chosen = signing.get(alg);
      if (chosen && now() < chosen.until && !isOlderThan(REREAD)) return chosen.key;
      await keep(alg);
      return choose(alg);
    },
    async find(kid) {
      const known = () => loaded.find(({ record }) => record.kid === kid)?.verify;
      if (isOlderThan(REREAD) || isOlderThan(LOOK_AGAIN) && !known()) await readAll();
      return known();
    },
    async publish() {
      // RFC 9068 §2: resource servers find the key before the first token is signed with it.
      for (const alg of signingAlgorithms) await keep(alg);
      return {
        keys: loaded.map(({ record: { kid, alg, jwk } }) => ({ ...publicPart(jwk), kid, alg, use: "sig" })),
      };
    },
  };
}

async function generate(alg: JwsAlgorithm): Promise<{ kid: string; jwk: JsonWebKey }> {
  const { privateKey } = await crypto.subtle.generateKey(ALGORITHMS[alg].generate, true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const { key_ops: _, ext: __, alg: ___, ...jwk } = await crypto.subtle.exportKey(
    "jwk",
    privateKey,
  ) as JsonWebKey;
  return { kid: randomId("key_"), jwk };
}

async function load(record: SigningKey): Promise<Loaded> {
  const { kid, alg, jwk } = record;
  const key = await crypto.subtle.importKey("jwk", { ...jwk }, ALGORITHMS[alg].key, false, ["sign"]);
  return { record, sign: { kid, alg, key }, verify: await importPublicJwk({ ...publicPart(jwk), kid }, alg) };
}

function publicPart({ kty, crv, x, y, n, e }: JsonWebKey): PublicJwk {
  return JSON.parse(JSON.stringify({ kty, crv, x, y, n, e }));
}
