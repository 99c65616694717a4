/**
 * Removes users with all that is stored about them.
 *
 * @module
 */
import { type Key, listAll, type Store } from "../../store/store.ts";
import { approvalMemoriesPrefix } from "../approvals/approval.ts";
import { removeAll } from "../account/user_application.ts";
import { endUserConnections } from "../connection_records.ts";
import { factorKeys } from "../factors/factor_record.ts";
import { userGrantsPrefix } from "../records/grant_record.ts";
import { linkedAccountKey, userIdentityKey } from "../records/provider_record.ts";
import {
  emailVerificationKey,
  passwordResetKey,
  profileKey,
  type User,
  userKey,
  usernameKey,
  verifiedEmailKey,
} from "../records/user_record.ts";
import { removeProviderTokens } from "../sign_in/account_record.ts";
import { listUserIdentities } from "../sign_in/user_identity.ts";
import { canonicalEmail } from "./email_address.ts";
import { findAccount } from "./user_changes.ts";
import { grantKeys } from "./user_grants.ts";
import { endUserSessions } from "./user_sessions.ts";
import { canonicalUsername } from "./username.ts";

/** Records that are read before they are removed. */
const MAX_BATCH = 100;

/**
 * Removes a user with all that is stored about them, except calls that wait for an approval (10 minutes), whether they sign in with a password, at a provider, or both. Access
 * ends with the first commit, because sessions, tokens and codes are valid only while their user exists
 * (`tokens/liveness.ts`); what is left after an interruption expires. Kept tokens of providers are removed, not revoked
 * (`revokeProviderTokens`); those of upstreams are revoked by the gateway.
 * @param user the id, or the user name
 * @returns `false` when there is no such user
 */
export async function removeUser(store: Store, user: string): Promise<boolean> {
  const id = (await findAccount(store, user))?.id;
  if (id === undefined) return false;
  const own = await store.get<User>(userKey(id));
  const identities = await listUserIdentities(store, id);
  const email = canonicalEmail(own?.value.email ?? "");
  const verified = await store.get<string>(verifiedEmailKey(email));
  await store.commit({
    remove: [
      userKey(id),
      profileKey(id),
      passwordResetKey(id),
      emailVerificationKey(id),
      ...own ? [usernameKey(canonicalUsername(own.value.username))] : [],
      ...verified?.value === id ? [verified.key] : [],
      ...identities.flatMap(({ issuer, subject }) => [
        linkedAccountKey(issuer, subject),
        userIdentityKey(id, issuer, subject),
      ]),
      ...await factorKeys(store, id),
    ],
  });
  await endUserSessions(store, id);
  await removeProviderTokens(store, id);
  await endUserConnections(store, id);
  await removeBelow(store, userGrantsPrefix(id), (key) => grantKeys(id, String(key.at(-1))));
  await removeBelow(store, ["consent", id], (key) => [key]);
  await removeBelow(store, approvalMemoriesPrefix(id), (key) => [key]);
  return true;
}

/** Removes records below a prefix, and those that belong to them. */
async function removeBelow(store: Store, prefix: Key, keysOf: (key: Key) => readonly Key[]): Promise<void> {
  let keys: Key[] = [];
  for await (const { key } of listAll(store, prefix)) {
    keys.push(...keysOf(key));
    if (keys.length < MAX_BATCH) continue;
    await removeAll(store, keys);
    keys = [];
  }
  await removeAll(store, keys);
}
