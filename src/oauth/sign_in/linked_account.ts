/**
 * The account of an identity: found by issuer and subject, and by nothing else. An e-mail address, verified or not, links
 * no accounts: it may be given to another person.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Entry, type Key, listAll, type Store } from "../../store/store.ts";
import {
  type LinkedAccount,
  linkedAccountKey,
  type Profile,
  profileKey,
  type User,
  type UserIdentity,
  userIdentityKey,
  userKey,
  type UserRole,
} from "../records.ts";
import { findUserOrLocked, saveProfile } from "../users/user.ts";
import type { Identity } from "./provider.ts";
import { toText, toUserIdentity } from "./user_identity.ts";

/**
 * The user of this identity, also a locked one, with what the provider says now. A new identity gets a new user. A user of this server who
 * linked the identity keeps name, address and role.
 */
export async function findLinkedUser(
  store: Store,
  identity: Identity,
  { provider, role, now }: {
    readonly provider: string;
    readonly role: UserRole | undefined;
    readonly now: number;
  },
): Promise<Profile> {
  const key = linkedAccountKey(identity.issuer, identity.subject);
  const email = emailOf(identity);
  const shown = {
    name: toText(identity.name) || provider,
    email,
    ...(email !== "" && { email_verified: true }),
  };
  return await retryLostRaces(async () => {
    const entry = await store.get<LinkedAccount>(key);
    const known = entry && await findUserOrLocked(store, entry.value.user);
    if (known) {
      await indexIdentity(store, identity, provider, entry);
      const own = (await store.get<User>(userKey(known.id)))?.value;
      if (own) return toProfile(own);
      const user: Profile = { id: known.id, ...shown, ...(role !== undefined && { role }) };
      await saveProfile(store, user, now);
      return known.locked === undefined ? user : { ...user, locked: known.locked };
    }
    // An account that was removed is not revived: what it could read is another user's by now.
    const user: Profile = { id: randomId("user_"), ...shown, ...(role !== undefined && { role }) };
    const account: LinkedAccount = { user: user.id, provider, linked: now };
    const done = await store.commit({
      check: [{ key, version: entry?.version ?? null }],
      set: [
        { key, value: account },
        toUserIdentity(identity, account),
        { key: profileKey(user.id), value: user },
      ],
    });
    return done ? user : LOST_RACE;
  });
}

/** Writes the record by user when it is missing or the account has another label now; not while it is being unlinked. */
async function indexIdentity(
  store: Store,
  identity: Identity,
  provider: string,
  { key, version, value }: Entry<LinkedAccount>,
): Promise<void> {
  const put = toUserIdentity(identity, { ...value, provider });
  const stored = (await store.get<UserIdentity>(put.key))?.value;
  if (stored?.label === put.value.label && stored.provider === provider) return;
  await store.commit({ check: [{ key, version }], set: [put] });
}

function toProfile({ id, name, email, role, locked }: Profile): Profile {
  return { id, name, email, ...(role !== undefined && { role }), ...(locked !== undefined && { locked }) };
}

/** A user who signs in at a provider. */
export interface LinkedUser extends Profile {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
}

/** All users who sign in at providers. */
export async function* listLinkedUsers(store: Store): AsyncGenerator<LinkedUser> {
  for await (const { key, value } of listAll<LinkedAccount>(store, ["linked_account"])) {
    const user = await findUserOrLocked(store, value.user);
    if (!user) continue;
    // A user with a user name who linked the identity: the hash of the password is not shown.
    const { password: _, ...shown } = user as Profile & { readonly password?: string };
    yield { ...shown, provider: value.provider, issuer: String(key[1]), subject: String(key[2]) };
  }
}

/**
 * Removes a user who signs in at a provider, with all tokens, codes and sessions (`liveness.ts`). The next sign-in, if it
 * is admitted, makes a new user. @returns `false` when there is none with this id
 */
export async function removeLinkedUser(store: Store, id: string): Promise<boolean> {
  // A user of this server may have linked an identity: `removeUser` removes that one.
  if (await store.get(userKey(id))) return false;
  const remove: Key[] = [];
  for await (const { key, value } of listAll<LinkedAccount>(store, ["linked_account"])) {
    if (value.user === id) remove.push(key, userIdentityKey(id, String(key[1]), String(key[2])));
  }
  if (remove.length === 0) return false;
  await store.commit({ remove: [profileKey(id), ...remove] });
  return true;
}

/** The verified address: another one says nothing about the user. */
function emailOf({ email, emailVerified }: Identity): string {
  return emailVerified ? toText(email) : "";
}
