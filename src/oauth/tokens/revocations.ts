/**
 * Revocation of signed access tokens (https://www.rfc-editor.org/rfc/rfc7009#section-3). They are listed in the grant that
 * the token needs or, for tokens without a user, in a record of the client that never expires, so that no expired record
 * makes a revoked token valid again.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Store } from "../../store/store.ts";
import { type Grant, grantKey, type Revocations } from "../records/grant_record.ts";
import { revocationsKey } from "../records/token_record.ts";

/** Tokens in one list. When there are more, all that were issued up to the time of the oldest count as revoked. */
const MAX_LISTED = { grant: 64, client: 256 };

/** What identifies a signed token for its revocation. */
export interface SignedToken {
  readonly jti: string;
  readonly client_id: string;
  readonly grant?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly issued: number;
}

/** Whether the token is revoked by this list. */
export function isRevoked(list: Revocations | undefined, { jti, issued }: SignedToken): boolean {
  return list !== undefined && (issued <= list.before || list.tokens.some(([each]) => each === jti));
}

/** Revokes one signed token, not the others of its grant. */
export async function revokeSignedToken(store: Store, token: SignedToken): Promise<void> {
  await retryLostRaces(async () => {
    const { grant, client_id } = token;
    if (grant === undefined) {
      const key = revocationsKey(client_id);
      const entry = await store.get<Revocations>(key);
      const value = addRevocation(entry?.value, token, MAX_LISTED.client);
      return await store.commit({
        check: [{ key, version: entry?.version ?? null }],
        set: [{ key, value }],
      }) ||
        LOST_RACE;
    }
    const entry = await store.get<Grant>(grantKey(grant));
    if (!entry) return true;
    const { key, version, expires } = entry;
    const value = { ...entry.value, revoked: addRevocation(entry.value.revoked, token, MAX_LISTED.grant) };
    return await store.commit({ check: [{ key, version }], set: [{ key, value, expires }] }) || LOST_RACE;
  });
}

function addRevocation(list: Revocations | undefined, token: SignedToken, max: number): Revocations {
  if (isRevoked(list, token)) return list!;
  const tokens = [...list?.tokens ?? [], [token.jti, token.issued] as const].sort(([, a], [, b]) => a - b);
  const dropped = tokens.splice(0, Math.max(0, tokens.length - max));
  return { before: dropped.at(-1)?.[1] ?? list?.before ?? 0, tokens };
}
