/**
 * The records of accounts that sign in at providers: accounts of this server, and those made at the first sign-in; and what
 * ends with them.
 *
 * @module
 */
import { type Commit, type Entry, listAll, type Store } from "../../store/store.ts";
import { userProviderTokensPrefix } from "../records/provider_record.ts";
import { type Profile, profileKey, type User, userKey } from "../records/user_record.ts";

/** The record of an account, locked or not: of this server, or made at the first sign-in at a provider. */
export async function findOwner(store: Store, id: string): Promise<Entry<User | Profile> | undefined> {
  return await store.get<User>(userKey(id)) ?? await store.get<Profile>(profileKey(id));
}

/** What an account loses with an identity: rights of a provider last only as long as the user signs in there. */
export async function withdrawRights(store: Store, user: string): Promise<Pick<Commit, "check" | "set">> {
  const owner = await findOwner(store, user);
  if (!owner || "password" in owner.value) return {};
  const { role: _, scopes, ...kept } = owner.value;
  const assigned = kept.assigned_role;
  const none = scopes && { scopes: Object.fromEntries(Object.keys(scopes).map((name) => [name, false])) };
  return {
    check: [{ key: owner.key, version: owner.version }],
    set: [{ key: owner.key, value: { ...kept, ...(assigned && { role: assigned }), ...none } }],
  };
}

/** Removes the kept tokens of a removed user. `revokeProviderTokens` ends them at the providers, too. */
export async function removeProviderTokens(store: Store, user: string): Promise<void> {
  for await (const { key } of listAll(store, userProviderTokensPrefix(user))) {
    await store.commit({ remove: [key] });
  }
}
