/**
 * Signed access tokens that were revoked before their time (https://www.rfc-editor.org/rfc/rfc7009#section-3). They stand
 * in the grant that the token needs, or, of a client's own tokens, in a record of the client that never expires: nothing
 * that a clock removes makes a token good again.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Store } from "../../store/store.ts";
import { type Grant, grantKey, type Revocations, revocationsKey } from "../records.ts";

/** Tokens that one list names. Of more, the oldest are told by the time of their issue, with all that are as old. */
const MAX_NAMED = { grant: 64, client: 256 };

/** A signed token, as far as a revocation needs to know it. */
export interface SignedToken {
  readonly jti: string;
  readonly client_id: string;
  readonly grant?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly issued: number;
}

/** Whether a list names the token. */
export function isRevoked(list: Revocations | undefined, { jti, issued }: SignedToken): boolean {
  return list !== undefined && (issued <= list.before || list.tokens.some(([each]) => each === jti));
}

/** Ends one signed token, and leaves the others of its grant alone. */
export async function revokeSignedToken(store: Store, token: SignedToken): Promise<void> {
  await retryLostRaces(async () => {
    const { grant, client_id } = token;
    if (grant === undefined) {
      const key = revocationsKey(client_id);
      const entry = await store.get<Revocations>(key);
      const value = addRevocation(entry?.value, token, MAX_NAMED.client);
      return await store.commit({
        check: [{ key, version: entry?.version ?? null }],
        set: [{ key, value }],
      }) ||
        LOST_RACE;
    }
    const entry = await store.get<Grant>(grantKey(grant));
    if (!entry) return true;
    const { key, version, expires } = entry;
    const value = { ...entry.value, revoked: addRevocation(entry.value.revoked, token, MAX_NAMED.grant) };
    return await store.commit({ check: [{ key, version }], set: [{ key, value, expires }] }) || LOST_RACE;
  });
}

function addRevocation(list: Revocations | undefined, token: SignedToken, max: number): Revocations {
  if (isRevoked(list, token)) return list!;
  const tokens = [...list?.tokens ?? [], [token.jti, token.issued] as const].sort(([, a], [, b]) => a - b);
  const dropped = tokens.splice(0, Math.max(0, tokens.length - max));
  return { before: dropped.at(-1)?.[1] ?? list?.before ?? 0, tokens };
}
