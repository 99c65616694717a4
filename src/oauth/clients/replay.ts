/**
 * Replay detection for proofs and assertions: each is recorded as used until it expires. The store decides between
 * instances. Each instance also remembers by its monotonic clock, so that a proof does not become valid again when the
 * system clock jumps ahead, the store removes the record, and the clock is set back.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { putIfAbsent } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { usedKey } from "../records.ts";

type Kind = Parameters<typeof usedKey>[0];

/** Digests of what was used, oldest first, and when each expires by the monotonic clock. */
const used = new WeakMap<AuthorizationServer, Record<Kind, Map<string, number>>>();
/** Of each kind: about ten megabytes. */
const MAX_REMEMBERED = 100_000;

/**
 * Marks the proof or assertion as used. `false` when it was used before.
 * @param id a unique id that includes its issuer or key
 * @param expires when it is too old to be accepted, in milliseconds since the epoch
 */
export async function useOnce(
  as: AuthorizationServer,
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
  if (!await putIfAbsent(as.store, usedKey(kind, digest), true, expires)) return false;
  for (const [oldest, until] of remembered) {
    if (until > now && remembered.size < MAX_REMEMBERED) break;
    remembered.delete(oldest);
  }
  remembered.set(digest, now + expires - as.now());
  return true;
}
