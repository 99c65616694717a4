/**
 * Proofs and assertions that are good once: who used one is kept as long as it would be taken. The store decides between
 * instances; this instance remembers by a clock that nobody sets, so that a proof does not become good again when the
 * clock jumps ahead, the store sweeps, and the clock is set back.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import { putIfAbsent } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { usedKey } from "../records.ts";

type Kind = Parameters<typeof usedKey>[0];

/** Digests of what was used, oldest first, and until when it counts, by the monotonic clock. */
const used = new WeakMap<AuthorizationServer, Record<Kind, Map<string, number>>>();
/** Of each kind: some ten megabytes at the most. */
const MAX_REMEMBERED = 100_000;

/**
 * Whether nobody used this before; from now on somebody has.
 * @param id what tells it from all others, its issuer or key included
 * @param expires when it is refused for its age, in milliseconds since the epoch
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
