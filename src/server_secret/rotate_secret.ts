/**
 * Rotates the secret of a server while its instances run: the new one is published before it signs, records are sealed
 * with it, and the old one is accepted for a while after that.
 *
 * @module
 */
import { checkNames, checkWhole, type Names } from "../options/option_check.ts";
import { encodeBase64url } from "../crypto/base64url.ts";
import { randomBytes } from "../crypto/random_bytes.ts";
import { randomId } from "../crypto/secret.ts";
import { resealGatewayRecords } from "../gateway/reseal.ts";
import { resealRecords } from "../oauth/reseal.ts";
import {
  createSecretReader,
  listSecretRecords,
  readFirstSecret,
  SECRET_CACHE_MS,
  secretKey,
  type SecretRecord,
} from "./read_secrets.ts";
import { LOST_RACE, retryLostRaces } from "../store/retry.ts";
import { type Entry, type Store, timeOf } from "../store/store.ts";

/** From the time when a secret is published until it signs: twice as long as instances use what they have read. */
const NOTICE_MS = 2 * SECRET_CACHE_MS;
/** What was sealed with the old secret at the last moment is in the store after this time. */
const SETTLE_MS = 2000;
const DAY_MS = 86_400_000;

/** A secret of the server. The secret itself is in the store only. Times are milliseconds since the epoch. */
export interface ShownServerSecret {
  readonly id: string;
  /** `next` is published, `current` signs and seals, and what a `previous` one signed is still accepted. */
  readonly state: "next" | "current" | "previous";
  readonly created: number;
  readonly starts: number;
  /** Until when it is accepted; absent for the current one, and for one whose rotation has not finished. */
  readonly expires?: number;
}

/** Options of {@linkcode rotateServerSecret}. */
export interface SecretRotationOptions {
  /** Days for which the old secret is accepted. @default 30 */
  readonly retentionDays?: number;
  /**
   * After a compromise: nothing that a secret from before this call signed is accepted once the rotation is done. Also a
   * secret that was published but did not sign yet is replaced. @default false
   */
  readonly revokeOld?: boolean;
  /** Waits, for tests. @default setTimeout */
  readonly pause?: (milliseconds: number) => Promise<void>;
}

const NAMES: Names<SecretRotationOptions> = {
  retentionDays: "number",
  revokeOld: "boolean",
  pause: "function",
};

/** What a rotation did. */
export interface SecretRotation {
  /** The secret that signs and seals now. */
  readonly id: string;
  /** Whether this finished a rotation that was interrupted, instead of beginning another. */
  readonly isResumed: boolean;
  /** How many records were sealed anew. */
  readonly resealed: number;
  readonly secrets: readonly ShownServerSecret[];
}

/** The secrets of the server whose store this is, oldest first; empty when its secret was never rotated. */
export async function listServerSecrets(store: Store): Promise<ShownServerSecret[]> {
  const now = timeOf(store);
  const records = await listSecretRecords(store);
  const current = Math.max(0, records.findLastIndex(({ value }) => value.starts <= now));
  return records.map(({ value: { id, created, starts }, expires }, i) => ({
    id,
    state: i > current ? "next" : i === current ? "current" : "previous",
    created,
    starts,
    ...(expires !== undefined && { expires }),
  }));
}

/**
 * Rotates the secret of the servers on this store. All instances go on: each uses the new secret twenty seconds later, and
 * after that all records are sealed with it. This takes half a minute. When it is interrupted nothing is lost, because
 * the old secret ends only when all records are sealed with the new one; the next call finishes it,
 * or with `revokeOld` begins another that replaces both secrets.
 *
 * Sessions, tokens, second factors, kept tokens of providers, and pairwise subjects stay. Cursors, cookies of logins that
 * have begun, DPoP nonces and MCP sessions of the old secret are accepted for `retentionDays`.
 */
export async function rotateServerSecret(
  store: Store,
  options: SecretRotationOptions = {},
): Promise<SecretRotation> {
  checkNames("rotateServerSecret", options, NAMES);
  const { retentionDays = 30, revokeOld = false, pause = sleep } = options;
  checkWhole("rotateServerSecret.retentionDays", retentionDays, 0);
  const { newest, isResumed } = await begin(store, revokeOld);
  const left = newest.starts + SETTLE_MS - timeOf(store);
  if (left > 0) await pause(left);
  const secret = createSecretReader(store);
  let resealed = 0;
  // A record of another instance that was sealed just before is found by the pass after that.
  for (let changed = -1; changed !== 0; resealed += changed) {
    changed = await resealRecords(store, secret) + await resealGatewayRecords(store, secret);
  }
  const end = revokeOld ? undefined : timeOf(store) + retentionDays * DAY_MS;
  await retire(store, newest, end);
  // Until no instance uses what it read before.
  if (revokeOld) await pause(SECRET_CACHE_MS);
  return { id: newest.id, isResumed, resealed, secrets: await listServerSecrets(store) };
}

/**
 * Adds the next secret, or finds the one whose rotation was interrupted.
 * @param isAlwaysNew adds one in any case: that of an interrupted rotation was in the store, and may have leaked with it
 */
function begin(
  store: Store,
  isAlwaysNew: boolean,
): Promise<{ readonly newest: SecretRecord; readonly isResumed: boolean }> {
  return retryLostRaces(async () => {
    const now = timeOf(store);
    const records = await listSecretRecords(store);
    const last = records.at(-1);
    if (!isAlwaysNew && last && records.slice(0, -1).some(({ expires }) => expires === undefined)) {
      return { newest: last.value, isResumed: true };
    }
    const newest: SecretRecord = {
      id: randomId("secret_"),
      secret: encodeBase64url(randomBytes(32)),
      created: now,
      starts: now + NOTICE_MS,
    };
    const next = secretKey(last ? generationOf(last) + 1 : 1);
    const first: SecretRecord | undefined = last ? undefined : {
      id: randomId("secret_"),
      secret: encodeBase64url(await readFirstSecret(store)),
      created: 0,
      starts: 0,
    };
    const done = await store.commit({
      check: [{ key: next, version: null }, ...first ? [{ key: secretKey(0), version: null }] : []],
      set: [{ key: next, value: newest }, ...first ? [{ key: secretKey(0), value: first }] : []],
    });
    return done ? { newest, isResumed: false } : LOST_RACE;
  });
}

/** Lets the secrets before the newest one end. @param end `undefined` removes them, and those that were to end later */
async function retire(store: Store, newest: SecretRecord, end: number | undefined): Promise<void> {
  await retryLostRaces(async () => {
    const records = await listSecretRecords(store);
    const index = records.findIndex(({ value }) => value.id === newest.id);
    const old = records.slice(0, Math.max(0, index))
      .filter(({ expires }) => end === undefined || expires === undefined);
    if (old.length === 0) return true;
    const check = old.map(({ key, version }) => ({ key, version }));
    return await store.commit(
      end === undefined
        ? { check, remove: old.map(({ key }) => key) }
        : { check, set: old.map(({ key, value }) => ({ key, value, expires: end })) },
    ) || LOST_RACE;
  });
}

const generationOf = ({ key }: Entry) => Number(key.at(-1));
const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
