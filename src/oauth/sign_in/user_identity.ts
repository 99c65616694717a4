/**
 * The identities of a user at providers: lists them, adds one to an account, and removes one. The provider proved who the
 * user is there; the caller ensures who the user is here.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Check, type Entry, listAll, type Put, type Store } from "../../store/store.ts";
import {
  type LinkedAccount,
  linkedAccountKey,
  type StoredProviderTokens,
  userIdentitiesPrefix,
  type UserIdentity,
  userIdentityKey,
  userProviderTokensPrefix,
} from "../records/provider_record.ts";
import { findOwner, withdrawRights } from "./account_record.ts";
import type { Identity } from "./provider.ts";

/** Identities that one user can have. */
export const MAX_IDENTITIES = 20;
/** Characters of a name or an address that are stored. */
const MAX_TEXT_CHARACTERS = 256;

/** An identity that a user can sign in with. */
export interface LinkedIdentity extends UserIdentity {
  readonly issuer: string;
  readonly subject: string;
}

/** Finds another way to sign in: the checks that it is still there; `undefined` when there is none. */
export type FindOtherWay = () => Promise<readonly Check[] | undefined>;

/** The identities of the user, by issuer. */
export async function listUserIdentities(store: Store, user: string): Promise<LinkedIdentity[]> {
  const entries = await store.list<UserIdentity>(userIdentitiesPrefix(user), { limit: MAX_IDENTITIES });
  return entries.map(({ key, value }) => ({ ...value, issuer: String(key[2]), subject: String(key[3]) }));
}

/**
 * Adds an identity to an account, so that the user can sign in with it.
 * @returns `"other_user"` when it is another user's, `"too_many"` beyond {@linkcode MAX_IDENTITIES}
 */
export async function linkIdentity(
  store: Store,
  user: string,
  identity: Identity,
  { provider, now }: { readonly provider: string; readonly now: number },
): Promise<"linked" | "other_user" | "too_many"> {
  const key = linkedAccountKey(identity.issuer, identity.subject);
  return await retryLostRaces(async () => {
    const entry = await store.get<LinkedAccount>(key);
    // The account of a removed user is free.
    if (entry && entry.value.user !== user && await findOwner(store, entry.value.user)) return "other_user";
    const own = await listUserIdentities(store, user);
    if (entry?.value.user !== user && own.length >= MAX_IDENTITIES) return "too_many";
    const account: LinkedAccount = entry?.value.user === user
      ? entry.value
      : { user, provider, linked: now, added: true };
    const done = await store.commit({
      check: [{ key, version: entry?.version ?? null }],
      set: [{ key, value: account }, toUserIdentity(identity, account)],
    });
    return done ? "linked" : LOST_RACE;
  });
}

/**
 * Removes an identity from an account. The last way to sign in stays: of two requests that remove the last two identities
 * at once, one is refused (`user_identity_test.ts`).
 * @param findOtherWay finds a way to sign in without any identity, such as a password
 * @param isUsable whether the user can sign in at the provider with this id: it may have been removed from the server
 */
export async function unlinkIdentity(
  store: Store,
  user: string,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
  findOtherWay: FindOtherWay,
  isUsable: (provider: string) => Promise<boolean>,
): Promise<"unlinked" | "unknown" | "last"> {
  const key = userIdentityKey(user, issuer, subject);
  return await retryLostRaces(async () => {
    const entries = await store.list<UserIdentity>(userIdentitiesPrefix(user), { limit: MAX_IDENTITIES });
    const entry = entries.find((each) => each.key[2] === issuer && each.key[3] === subject);
    if (!entry) return "unknown";
    const check: Check[] = [{ key, version: entry.version }];
    const otherWay = await findOtherWay();
    if (otherWay) check.push(...otherWay);
    else {
      const other = await findUsable(entries.filter((each) => each !== entry), isUsable);
      if (!other) return "last";
      check.push({ key: other.key, version: other.version });
    }
    const { check: owner = [], set = [] } = await withdrawRights(store, user);
    const remove = [key, linkedAccountKey(issuer, subject)];
    // Two providers can have one issuer.
    for await (const { key, value } of listAll<StoredProviderTokens>(store, userProviderTokensPrefix(user))) {
      if (value.issuer === issuer && value.subject === subject) remove.push(key);
    }
    const done = await store.commit({ check: [...check, ...owner], set, remove });
    return done ? "unlinked" : LOST_RACE;
  });
}

/** The record by user of a linked account. */
export function toUserIdentity(
  { issuer, subject, email, emailVerified, name }: Identity,
  { user, provider, linked }: LinkedAccount,
): Put & { readonly value: UserIdentity } {
  const label = toText((emailVerified ? email : undefined) ?? name ?? "");
  return { key: userIdentityKey(user, issuer, subject), value: { provider, linked, label } };
}

/** One line of limited length. Strict JSON parsers refuse half of a surrogate pair. */
export function toText(text: string | undefined): string {
  // deno-lint-ignore no-control-regex
  return (text ?? "").replace(/[\u0000-\u001f\u007f]/g, " ").trim().slice(0, MAX_TEXT_CHARACTERS)
    .toWellFormed();
}

/** An identity with which the user can sign in now. */
export async function findUsable(
  entries: readonly Entry<UserIdentity>[],
  isUsable: (provider: string) => Promise<boolean>,
): Promise<Entry<UserIdentity> | undefined> {
  for (const entry of entries) if (await isUsable(entry.value.provider)) return entry;
  return undefined;
}
