/**
 * Lists and rotates the signing keys of the servers on a store, while they run: they read the keys from the store at least
 * once in a minute (`signing_keys.ts`).
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../../options/option_check.ts";
import { JWS_ALGORITHMS, type JwsAlgorithm } from "../../crypto/jws.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Entry, listAll, type Store, timeOf } from "../../store/store.ts";
import { type SigningKey, signingKeyKey } from "../records/token_record.ts";
import { CLOCK_SKEW_MS, generateSigningKey } from "./signing_keys.ts";

/** A signing key without its private part. Times are milliseconds since the epoch. */
export interface ShownSigningKey {
  readonly kid: string;
  readonly alg: JwsAlgorithm;
  /** `next` is published and does not sign yet, `current` signs, and what a `retired` one signed is still accepted. */
  readonly state: "next" | "current" | "retired";
  readonly created: number;
  /** From when it signs. */
  readonly starts: number;
  /** Until when it is published, and what it signed is accepted; absent while no later key was made. */
  readonly expires?: number;
}

/** Options of {@linkcode rotateSigningKeys}. */
export interface KeyRotationOptions {
  /** Only the keys of these algorithms. @default all that the server has */
  readonly algorithms?: readonly JwsAlgorithm[];
  /**
   * Seconds from publishing a key to signing with it. Resource servers may cache the keys: this server allows them five
   * minutes. @default 86400, as the option `signingKeyNotice`
   */
  readonly notice?: number;
  /** Seconds for which a token of the old key may be valid. @default 7200, as the option `accessTokenLifetime` */
  readonly maxTokenLifetime?: number;
  /**
   * After a compromise: the new key signs at once, and all others are removed. The tokens that they signed are refused by
   * every instance within a minute, and by resource servers when they read the keys again. @default false
   */
  readonly revokeOld?: boolean;
}

const NAMES: Names<KeyRotationOptions> = {
  algorithms: "string[]",
  notice: "number",
  maxTokenLifetime: "number",
  revokeOld: "boolean",
};

/** The signing keys of the servers on this store, oldest first for each algorithm. */
export async function listSigningKeys(store: Store): Promise<ShownSigningKey[]> {
  const now = timeOf(store);
  const entries = await Array.fromAsync(listAll<SigningKey>(store, ["signing_key"]));
  return JWS_ALGORITHMS.flatMap((alg) => {
    const keys = entries.filter(({ value }) => value.alg === alg);
    const current = Math.max(0, keys.findLastIndex(({ value }) => value.starts <= now));
    return keys.map(({ value: { kid, created, starts }, expires }, i): ShownSigningKey => ({
      kid,
      alg,
      state: i > current ? "next" : i === current ? "current" : "retired",
      created,
      starts,
      ...(expires !== undefined && { expires }),
    }));
  });
}

/**
 * Rotates the signing keys of the servers on this store. Where the next key is published already, none is added. Does
 * nothing for a server that has signed nothing yet.
 * @returns all signing keys
 */
export async function rotateSigningKeys(
  store: Store,
  options: KeyRotationOptions = {},
): Promise<ShownSigningKey[]> {
  checkNames("rotateSigningKeys", options, NAMES);
  const { algorithms, notice = 86_400, maxTokenLifetime = 7200, revokeOld = false } = options;
  checkWhole("rotateSigningKeys.notice", notice, 0);
  checkWhole("rotateSigningKeys.maxTokenLifetime", maxTokenLifetime, 0);
  const known = new Set((await listSigningKeys(store)).map(({ alg }) => alg));
  for (const alg of algorithms ?? known) {
    if (!known.has(alg)) throw new TypeError(`The server has no signing key for ${alg}`);
    await retryLostRaces(async () => {
      const entries = await Array.fromAsync(listAll<SigningKey>(store, ["signing_key", alg]));
      const now = timeOf(store);
      const isDone = revokeOld
        ? await replaceAll(store, alg, entries, now)
        : await addNext(store, alg, entries, now, notice * 1000, maxTokenLifetime * 1000 + CLOCK_SKEW_MS);
      return isDone || LOST_RACE;
    });
  }
  return await listSigningKeys(store);
}

/** The next key starts after the notice: a new one, or the one that is published. */
async function addNext(
  store: Store,
  alg: JwsAlgorithm,
  entries: readonly Entry<SigningKey>[],
  now: number,
  notice: number,
  longest: number,
): Promise<boolean> {
  const last = entries.at(-1)!;
  const isPublished = entries.length > 1 && last.value.starts > now;
  const starts = now + notice;
  if (isPublished && last.value.starts <= starts) return true;
  const old = isPublished ? entries.at(-2)! : last;
  const generation = old.value.generation + 1;
  const key = signingKeyKey(alg, generation);
  return await store.commit({
    check: [
      { key, version: isPublished ? last.version : null },
      { key: old.key, version: old.version },
    ],
    set: [
      {
        key,
        value: isPublished
          ? { ...last.value, starts }
          : { ...await generateSigningKey(alg), alg, generation, created: now, starts },
      },
      { key: old.key, value: old.value, expires: starts + longest },
    ],
  });
}

/** A new key signs at once, and no other one is left. */
async function replaceAll(
  store: Store,
  alg: JwsAlgorithm,
  entries: readonly Entry<SigningKey>[],
  now: number,
): Promise<boolean> {
  const generation = entries.at(-1)!.value.generation + 1;
  const key = signingKeyKey(alg, generation);
  const value: SigningKey = {
    ...await generateSigningKey(alg),
    alg,
    generation,
    created: now,
    starts: now,
  };
  return await store.commit({
    check: [{ key, version: null }, ...entries.map(({ key, version }) => ({ key, version }))],
    set: [{ key, value }],
    remove: entries.map(({ key }) => key),
  });
}
