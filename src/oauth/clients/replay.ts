/**
 * Replay detection for proofs and assertions: each is recorded as used until it expires. The store decides between
 * instances. Each instance also remembers by its monotonic clock, so that a proof does not become valid again when the
 * system clock jumps ahead, the store removes the record, and the clock is set back.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { putIfAbsent, type Store, StoreUnavailableError } from "../../store/store.ts";
import { usedKey } from "../records/token_record.ts";

type Kind = Parameters<typeof usedKey>[0];

/** The server that remembers. */
export interface ReplayMemory {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Absent for a resource server that is one instance: then only its memory decides. */
  readonly store?: Store | undefined;
}

/** Digests of what was used, oldest first, and when each expires by the monotonic clock. */
const used = new WeakMap<ReplayMemory, Record<Kind, Map<string, number>>>();
/** Of each kind: about ten megabytes. */
const MAX_REMEMBERED = 100_000;

/**
 * Marks the proof or assertion as used. `false` when it was used before.
 * @param id a unique id that includes its issuer or key
 * @param expires when it is too old to be accepted, in milliseconds since the epoch
 * @throws {StoreUnavailableError} also when there is no store and the memory is full: to forget one would allow its replay
 */
export async function useOnce(
  as: ReplayMemory,
  kind: Kind,
  id: string,
  expires: number,
): Promise<boolean> {
  const digest = secretDigest(id);
  let kinds = used.get(as);
  if (!kinds) used.set(as, kinds = { assertion: new Map(), dpop: new Map() });
  const remembered = kinds[kind];
  const now = performance.now();
  if ((remembered.get(digest) ?? 0) > now) return false;
  if (as.store && !await putIfAbsent(as.store, usedKey(kind, digest), true, expires)) return false;
  for (const [oldest, until] of remembered) {
    if (until > now && (remembered.size < MAX_REMEMBERED || !as.store)) break;
    remembered.delete(oldest);
  }
  if (remembered.size >= MAX_REMEMBERED) {
    throw new StoreUnavailableError("Too many DPoP proofs in the last minutes to remember without a store");
  }
  remembered.set(digest, now + expires - as.now());
  return true;
}
