/**
 * Removes users with all that is stored about them.
 *
 * @module
 */
import { removeBelow } from "../remove_below.ts";
import { ignoreUnavailable, LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { listAll, type Store, waitForRemoval } from "../../store/store.ts";
import { approvalMemoriesPrefix } from "../approvals/approval.ts";
import { endUserConnections, toUserConnectionEnds } from "../connection_records.ts";
import { factorKeys } from "../factors/factor_record.ts";
import { endedGrantsKey, userGrantsPrefix } from "../records/grant_record.ts";
import { linkedAccountKey, userIdentityKey, userProviderTokensPrefix } from "../records/provider_record.ts";
import {
  emailVerificationKey,
  passwordResetKey,
  profileKey,
  userKey,
  usernameKey,
  verifiedEmailKey,
} from "../records/user_record.ts";
import { removeProviderTokens } from "../sign_in/account_record.ts";
import { listUserIdentities } from "../sign_in/user_identity.ts";
import { canonicalEmail } from "./email_address.ts";
import { type AdminSearch, findAdminBeside, isActiveAdmin } from "./last_admin.ts";
import { type Conditions, findAccountEntry, isUser } from "./user_changes.ts";
import { grantKeys } from "./user_grants.ts";
import { endUserSessions } from "./user_sessions.ts";
import { canonicalUsername } from "./username.ts";

/**
 * Removes a user with all that is stored about them, except calls that wait for an approval (10 minutes), whether they sign
 * in with a password, at a provider, or both. Access ends with the first commit, because sessions, tokens and codes are valid
 * only while their user exists (`tokens/liveness.ts`), and stays so when another system gives the id again
 * (`foreign_user_test.ts`). It also removes what does not expire; what an interruption leaves does (`remove_user_test.ts`).
 * Kept tokens of providers are removed, not revoked (`revokeProviderTokens`); those of upstreams are revoked by the gateway.
 * @param user the id, or the user name
 * @returns `false` when there is no such user
 */
export function removeUser(store: Store, user: string): Promise<boolean> {
  return removeUserIf(store, user, () => Promise.resolve([]));
}

/** The user who asks for the removal is the last administrator. */
export class LastAdminError extends Error {
  override readonly name = "LastAdminError";
}

/**
 * As {@linkcode removeUser}, for a user who asks for it.
 * @param sessionStore for the first commit, which ends access: nothing is removed once the session has ended
 * @throws {LastAdminError} for the last administrator
 */
export function removeAccount(search: AdminSearch, id: string, sessionStore: Store): Promise<boolean> {
  return removeUserIf(search.store, id, async (user) => {
    if (!isActiveAdmin(search, user)) return [];
    const other = await findAdminBeside(search, id);
    if (!other) throw new LastAdminError("The last administrator cannot be removed");
    return [{ key: other.key, version: other.version }];
  }, sessionStore);
}

/** As {@linkcode removeUser}, under conditions. @param first the store of the first commit */
export async function removeUserIf(
  store: Store,
  user: string,
  conditions: Conditions,
  first: Store = store,
): Promise<boolean> {
  const id = await retryLostRaces(() => removeRecords(first, user, conditions));
  if (id === undefined) {
    await waitForRemoval(store, userKey(user));
    return false;
  }
  await removeRest(store, id).catch(ignoreUnavailable);
  return true;
}

/** What has no use any more, and expires. */
async function removeRest(store: Store, id: string): Promise<void> {
  await endUserSessions(store, id);
  await removeProviderTokens(store, id);
  await endUserConnections(store, id);
  await removeBelow(store, userGrantsPrefix(id), (key) => grantKeys(id, String(key.at(-1))));
  await removeBelow(store, ["consent", id]);
  await removeBelow(store, approvalMemoriesPrefix(id));
}

/** The first commit of a removal. @returns the id of the user; `undefined` when there is no such user */
async function removeRecords(
  store: Store,
  user: string,
  conditions: Conditions,
): Promise<string | undefined | typeof LOST_RACE> {
  const entry = await findAccountEntry(store, user);
  if (!entry) return undefined;
  const { key, version, value } = entry;
  const { id } = value;
  const identities = await listUserIdentities(store, id);
  const own = isUser(value) ? value : undefined;
  const tokens = await Array.fromAsync(listAll(store, userProviderTokensPrefix(id)));
  const connections = await toUserConnectionEnds(store, id);
  const verified = await store.get<string>(verifiedEmailKey(canonicalEmail(own?.email ?? "")));
  const done = await store.commit({
    check: [{ key, version }, ...connections.flatMap(({ check }) => check), ...await conditions(value)],
    set: connections.flatMap(({ set }) => set),
    remove: [
      userKey(id),
      profileKey(id),
      passwordResetKey(id),
      emailVerificationKey(id),
      endedGrantsKey(id),
      ...own ? [usernameKey(canonicalUsername(own.username))] : [],
      ...verified?.value === id ? [verified.key] : [],
      ...identities.flatMap(({ issuer, subject }) => [
        linkedAccountKey(issuer, subject),
        userIdentityKey(id, issuer, subject),
      ]),
      ...await factorKeys(store, id),
      ...tokens.map(({ key }) => key),
      ...connections.flatMap(({ remove }) => remove),
    ],
  });
  return done ? id : LOST_RACE;
}
