/**
 * The account of an identity: found by issuer and subject, and by nothing else. An e-mail address, verified or not, links
 * no accounts: it may be given to another person.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Check, type Key, listAll, type Put, type Store } from "../../store/store.ts";
import { type LinkedAccount, linkedAccountKey, type UserIdentity } from "../records/provider_record.ts";
import { type Profile, profileKey, type UserRole } from "../records/user_record.ts";
import { findUserOrLocked } from "../users/user.ts";
import type { Identity } from "./provider.ts";
import { findOwner } from "./account_record.ts";
import { toText, toUserIdentity } from "./user_identity.ts";

/** What the groups at a provider give a user, as of this sign-in. */
export interface ProviderRights {
  /** The id of the provider. */
  readonly provider: string;
  readonly role: UserRole | undefined;
  readonly scopes?: Readonly<Record<string, boolean>> | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What the commit of a new account needs beside the account (`../sign_up/new_identity.ts`). */
export interface NewUserPermit {
  readonly check: readonly Check[];
  readonly remove: readonly Key[];
  /** Where the provider gives none. */
  readonly role?: UserRole | undefined;
  /** Called once, after the commit. */
  created(user: Profile): void;
}

/**
 * The user of this identity, also a locked one, with what the provider says now. A new identity gets a new user. A user of
 * this server who linked the identity keeps name, address and role. Any other has the role and scopes that the provider of
 * the last sign-in gives, where it gives none the role of an operator, and name and address of the first identity.
 * @param admit called for an identity without an account; rejects when it may not have one
 */
export async function findLinkedUser(
  store: Store,
  identity: Identity,
  { provider, role, scopes, now }: ProviderRights,
  admit?: () => Promise<NewUserPermit>,
): Promise<Profile> {
  const key = linkedAccountKey(identity.issuer, identity.subject);
  const name = toText(identity.name);
  const email = emailOf(identity);
  const address = { email, ...(email !== "" && { email_verified: true }) };
  const rightsOf = (given: UserRole | undefined) => ({
    ...(given !== undefined && { role: given }),
    ...(scopes !== undefined && { scopes }),
  });
  return await retryLostRaces(async () => {
    const entry = await store.get<LinkedAccount>(key);
    // Not by `findUser`: a locked account is not a removed one, and gets no second account.
    const owner = entry && await findOwner(store, entry.value.user);
    if (!owner) {
      const permit = await admit?.();
      // An account that was removed is not revived: what it could read is another user's by now.
      const user: Profile = {
        id: randomId("user_"),
        name: name || provider,
        ...address,
        ...rightsOf(role ?? permit?.role),
        // Of the account, whichever identity signs in later.
        ...(permit?.role !== undefined && { assigned_role: permit.role }),
      };
      const account: LinkedAccount = { user: user.id, provider, linked: now };
      const done = await store.commit({
        check: [{ key, version: entry?.version ?? null }, ...permit?.check ?? []],
        set: [
          { key, value: account },
          toUserIdentity(identity, account),
          { key: profileKey(user.id), value: user },
        ],
        remove: permit?.remove ?? [],
      });
      if (!done) return LOST_RACE;
      permit?.created(user);
      return user;
    }
    if (owner.value.locked !== undefined) return toProfile(owner.value);
    const set: Put[] = [];
    const index = toUserIdentity(identity, { ...entry.value, provider });
    const indexed = (await store.get<UserIdentity>(index.key))?.value;
    if (indexed?.label !== index.value.label || indexed.provider !== provider) set.push(index);
    let user: Profile;
    if ("password" in owner.value) user = toProfile(owner.value);
    else {
      const { role: _, scopes: __, updated, ...kept } = owner.value;
      // Apple says the name at the first sign-in only.
      const { email_verified: ___, email: ____, ...others } = kept;
      const shown = { ...others, name: name || kept.name, ...address };
      const assigned = kept.assigned_role ?? entry.value.invited_role;
      user = { ...(entry.value.added ? kept : shown), ...rightsOf(role ?? assigned) };
      if (hasChanged(owner.value, user)) {
        user = { ...user, updated: now };
        set.push({ key: owner.key, value: user });
      } else if (updated !== undefined) user = { ...user, updated };
    }
    if (set.length === 0) return user;
    // Not while the identity is being unlinked, or the account removed or locked.
    const check = [entry, owner].map(({ key, version }) => ({ key, version }));
    return await store.commit({ check, set }) ? user : LOST_RACE;
  });
}

function hasChanged(before: Profile, after: Profile): boolean {
  const facts = ({ name, email, email_verified, role, scopes }: Profile) =>
    JSON.stringify([name, email, email_verified, role, Object.entries(scopes ?? {}).sort()]);
  return facts(before) !== facts(after);
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

/** The verified address: another one says nothing about the user. */
function emailOf({ email, emailVerified }: Identity): string {
  return emailVerified ? toText(email) : "";
}
