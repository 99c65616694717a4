/**
 * Removes users with all that is stored about them.
 *
 * @module
 */
import { removeBelow } from "../remove_below.ts";
import type { Store } from "../../store/store.ts";
import { approvalMemoriesPrefix } from "../approvals/approval.ts";
import { endUserConnections } from "../connection_records.ts";
import { factorKeys } from "../factors/factor_record.ts";
import { endedGrantsKey, userGrantsPrefix } from "../records/grant_record.ts";
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

/**
 * Removes a user with all that is stored about them, except calls that wait for an approval (10 minutes), whether they sign
 * in with a password, at a provider, or both. Access ends with the first commit, because sessions, tokens and codes are valid
 * only while their user exists (`tokens/liveness.ts`); what is left after an interruption expires. Kept tokens of providers are removed, not revoked
 * (`revokeProviderTokens`); those of upstreams are revoked by the gateway.
 * @param user the id, or the user name
 * @returns `false` when there is no such user
 */
export async function removeUser(store: Store, user: string): Promise<boolean> {
  const id = (await findAccount(store, user))?.id;
  return id !== undefined && await removeAccount(store, id, store);
}

/**
 * As {@linkcode removeUser}, for a user who asks for it.
 * @param sessionStore for the first commit, which ends access: nothing is removed once the session has ended
 */
export async function removeAccount(store: Store, id: string, sessionStore: Store): Promise<boolean> {
  if (!await findAccount(store, id)) return false;
  const own = await store.get<User>(userKey(id));
  const identities = await listUserIdentities(store, id);
  const email = canonicalEmail(own?.value.email ?? "");
  const verified = await store.get<string>(verifiedEmailKey(email));
  await sessionStore.commit({
    remove: [
      userKey(id),
      profileKey(id),
      passwordResetKey(id),
      emailVerificationKey(id),
      endedGrantsKey(id),
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
  await removeBelow(store, ["consent", id]);
  await removeBelow(store, approvalMemoriesPrefix(id));
  return true;
}
