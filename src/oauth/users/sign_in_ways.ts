/**
 * The ways in which a user can sign in: a password, identities at providers, passkeys. The last one cannot be removed: the
 * commit that removes one checks the records of another, so that of two requests that remove the last two at once one is
 * refused (`sign_in_ways_test.ts`).
 *
 * @module
 */
import type { Check, Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type UserFactors, userFactorsKey } from "../factors/factor_record.ts";
import { userIdentitiesPrefix, type UserIdentity } from "../records/provider_record.ts";
import { type User, userKey } from "../records/user_record.ts";
import { findUsable, MAX_IDENTITIES } from "../sign_in/user_identity.ts";

/** A way to sign in without any provider. */
export async function findWayWithoutProviders(
  as: AuthorizationServer,
  user: string,
): Promise<readonly Check[] | undefined> {
  const password = await findPassword(as, user);
  if (password) return toChecks(password);
  const factors = as.factors.passkeys ? await as.store.get<UserFactors>(userFactorsKey(user)) : undefined;
  return factors?.value.passkeys?.length ? toChecks(factors) : undefined;
}

/** A way to sign in without any passkey. */
export async function findWayWithoutPasskeys(
  as: AuthorizationServer,
  user: string,
): Promise<readonly Check[] | undefined> {
  const password = await findPassword(as, user);
  if (password) return toChecks(password);
  const identities = await as.store.list<UserIdentity>(userIdentitiesPrefix(user), { limit: MAX_IDENTITIES });
  const usable = await findUsable(identities, as.providers.isUsable);
  if (usable) return toChecks(usable);
  // `authenticateUser` may know the user: what it accepts is stored nowhere here.
  return as.authenticateUser && !await as.store.get(userKey(user)) ? [] : undefined;
}

/** The record of a user who signs in here with a password. */
async function findPassword(
  { store, passwordLogin, authenticateUser }: AuthorizationServer,
  user: string,
): Promise<Entry<User> | undefined> {
  if (!passwordLogin || authenticateUser) return undefined;
  const entry = await store.get<User>(userKey(user));
  return entry?.value.passwordless ? undefined : entry;
}

function toChecks({ key, version }: Entry): readonly Check[] {
  return [{ key, version }];
}
