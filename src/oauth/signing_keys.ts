/**
 * The keys that sign JWT access tokens: made at first use, kept in the store, the same on every instance.
 *
 * @module
 */
import { ALGORITHMS, type JwsKey } from "../crypto/jws.ts";
import { randomId } from "../crypto/secret.ts";
import { putIfAbsent, type Store } from "../store/store.ts";
import { type SigningKey, signingKeyKey } from "./records.ts";

export interface SigningKeys {
  /** The key to sign with. */
  current(): Promise<JwsKey>;
  /** The public key with this id; `undefined` when none was ever ours. */
  find(kid: string): Promise<JwsKey | undefined>;
  /** The public keys as RFC 7517 §5 writes them. */
  publish(): Promise<{ keys: JsonWebKey[] }>;
}

/** Which record instances race to write first; it points at the key in use. */
const CURRENT = "current";

/** Key sets by way of the store; what was read is remembered, since a key never changes. */
export function createSigningKeys(store: Store, now: () => number): SigningKeys {
  let signing: Promise<JwsKey> | undefined;
  const verifying = new Map<string, JwsKey>();

  async function load(): Promise<JwsKey> {
    const stored = await store.get<SigningKey>(signingKeyKey(CURRENT));
    if (stored) return importKey(stored.value, "sign");
    const made = await generate(now());
    // Of instances that start together one writes; the others take what it wrote.
    if (await putIfAbsent(store, signingKeyKey(CURRENT), made)) return importKey(made, "sign");
    return load();
  }

  async function readAll(): Promise<SigningKey[]> {
    return (await store.list<SigningKey>(["signing_key"])).map((entry) => entry.value);
  }

  return {
    current() {
      signing ??= load().catch((error) => {
        // A store that failed once must not keep failing from memory.
        signing = undefined;
        throw error;
      });
      return signing;
    },
    async find(kid) {
      const known = verifying.get(kid);
      if (known) return known;
      const record = (await readAll()).find((key) => key.kid === kid);
      if (!record) return undefined;
      const key = await importKey({ ...record, jwk: publicPart(record.jwk) }, "verify");
      verifying.set(kid, key);
      return key;
    },
    async publish() {
      // RFC 9068 §2: resource servers find the key before the first token is signed with it.
      await this.current();
      return {
        keys: (await readAll()).map(({ kid, alg, jwk }) => ({ ...publicPart(jwk), kid, alg, use: "sig" })),
      };
    },
  };
}

async function generate(created: number): Promise<SigningKey> {
  const { privateKey } = await crypto.subtle.generateKey(
    ALGORITHMS.ES256.key as EcKeyGenParams,
    true,
    ["sign", "verify"],
  ) as CryptoKeyPair;
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey("jwk", privateKey) as JsonWebKey;
  return { kid: randomId("key_"), alg: "ES256", jwk: { kty, crv, x, y, d } as JsonWebKey, created };
}

async function importKey({ kid, alg, jwk }: SigningKey, use: "sign" | "verify"): Promise<JwsKey> {
  return {
    kid,
    alg,
    key: await crypto.subtle.importKey("jwk", { ...jwk }, ALGORITHMS[alg].key, false, [use]),
  };
}

function publicPart({ kty, crv, x, y }: JsonWebKey): JsonWebKey {
  return { kty, crv, x, y } as JsonWebKey;
}
