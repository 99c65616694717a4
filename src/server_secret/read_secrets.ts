/**
 * Reads the secrets of a server from its store. The first one is made at first use; `rotate_secret.ts` adds others.
 *
 * @module
 */
import { decodeBase64url } from "../crypto/base64url.ts";
import { randomBytes } from "../crypto/random_bytes.ts";
import type { FindSecrets, ServerSecrets } from "../crypto/server_secrets.ts";
import { LOST_RACE, retryLostRaces } from "../store/retry.ts";
import {
  type Entry,
  type Key,
  putIfAbsent,
  type Store,
  StoreUnavailableError,
  timeOf,
} from "../store/store.ts";

/** The first secret. It stays after its rotation: pairwise subjects are derived from it. */
const FIRST: Key = ["server_secret"];
const SECRETS: Key = ["server_secrets"];

/** How long secrets that were read are used: a new one is known to every instance after this time. */
export const SECRET_CACHE_MS = 10_000;
/** How long known secrets are used while the store is unavailable, before it is asked again. */
const RETRY_MS = 1000;

/** One of several secrets. Absent in a store whose secret was never rotated; expires when it is no longer accepted. */
export interface SecretRecord {
  readonly id: string;
  /** 32 bytes, base64url. */
  readonly secret: string;
  readonly created: number;
  /** From when it is the current one, until a later one starts. */
  readonly starts: number;
}

/** More than one for each hour of the 30 days that retired ones are kept by default. */
const MAX_SECRETS = 1000;

export const secretKey = (generation: number): Key => [...SECRETS, generation];

/** The secrets, oldest first; empty when the secret was never rotated. */
export function listSecretRecords(store: Store): Promise<Entry<SecretRecord>[]> {
  return store.list<SecretRecord>(SECRETS, { limit: MAX_SECRETS });
}

/** The first secret. The first instance that needs it creates it. */
export function readFirstSecret(store: Store): Promise<Uint8Array> {
  return retryLostRaces(async () => {
    const entry = await store.get<Uint8Array>(FIRST);
    if (entry) return entry.value;
    const made = randomBytes(32);
    return await putIfAbsent(store, FIRST, made) ? made : LOST_RACE;
  });
}

/** Finds the secrets. What was read is used for {@linkcode SECRET_CACHE_MS}. */
export function createSecretReader(store: Store): FindSecrets {
  const now = () => timeOf(store);
  let known: ServerSecrets | undefined;
  let first: Uint8Array | undefined;
  let records: readonly (SecretRecord & { readonly bytes: Uint8Array; readonly expires: number })[] = [];
  let readAt = 0;
  let rereadAt = 0;
  /** When the next secret starts or ends, by what was read. */
  let changesAt = 0;

  /** The secrets as of now: the same object as before, unless something has changed. */
  function choose(at: number): ServerSecrets {
    const live = records.filter(({ expires }) => expires > at);
    changesAt = Math.min(
      ...live.flatMap(({ starts, expires }) => [starts, expires]).filter((time) => time > at),
    );
    const all = live.length === 0 ? [first!] : live.map(({ bytes }) => bytes);
    const current = all[Math.max(0, live.findLastIndex(({ starts }) => starts <= at))]!;
    // The next one is accepted, too: by the clock of another instance it may have started.
    const accepted = [current, ...all.filter((each) => each !== current).reverse()];
    const isSame = known?.accepted.length === accepted.length &&
      accepted.every((each, i) => each === known!.accepted[i]);
    return known = isSame ? known! : { current, accepted, first: first! };
  }

  // Values are kept, not promises: on Workers a promise of a finished request never settles.
  async function read(at: number): Promise<ServerSecrets> {
    // Other requests use what is known meanwhile, and while the store is unavailable.
    [readAt, rereadAt] = [at, at + RETRY_MS];
    try {
      const entries = await listSecretRecords(store);
      first ??= await readFirstSecret(store);
      records = entries.map(({ value, expires = Infinity }) => ({
        ...value,
        expires,
        bytes: records.find(({ id }) => id === value.id)?.bytes ?? decodeBase64url(value.secret)!,
      }));
    } catch (error) {
      if (known && error instanceof StoreUnavailableError) return known;
      throw error;
    }
    rereadAt = at + SECRET_CACHE_MS;
    return choose(at);
  }

  return () => {
    const at = now();
    // A clock that was set back makes the age of what was read unknown.
    if (!known || at < readAt || at >= rereadAt) return read(at);
    return at < changesAt ? known : choose(at);
  };
}
