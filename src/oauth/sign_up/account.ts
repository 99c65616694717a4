/**
 * Creates the account of a sign-up: in one commit with the end of the invitation or of the link that allows it, so that each
 * of them makes one account.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Entry } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { claimEmail } from "../mail/email_verification.ts";
import { type User, userKey, usernameKey, type UserRole } from "../records/user_record.ts";
import { canonicalUsername } from "../users/username.ts";

/** What the person entered, checked. */
export interface NewAccount {
  readonly username: string;
  readonly name: string;
  readonly email: string;
  /** The hash. */
  readonly password: string;
  readonly role?: UserRole | undefined;
  /** Whether the person proved to read mail at the address. */
  readonly isVerified: boolean;
}

export type NewAccountOutcome =
  | { readonly user: User }
  /** `ended`: the invitation or link was used, has expired or was revoked. */
  | { readonly problem: "username_taken" | "email_taken" | "ended" };

/**
 * Creates an account.
 * @param findPermit reads the record that allows it, which the commit removes
 */
export async function createAccount(
  as: AuthorizationServer,
  { isVerified, role, ...account }: NewAccount,
  findPermit: () => Promise<Entry | undefined>,
): Promise<NewAccountOutcome> {
  const id = randomId("user_");
  return await retryLostRaces<NewAccountOutcome>(async () => {
    const permit = await findPermit();
    if (!permit) return { problem: "ended" };
    const index = usernameKey(canonicalUsername(account.username));
    if (await as.store.get(index)) return { problem: "username_taken" };
    const claim = isVerified ? await claimEmail(as.store, id, account.email) : { check: [], set: [] };
    if (!claim) return { problem: "email_taken" };
    const user: User = {
      id,
      ...account,
      ...(role !== undefined && { role }),
      ...(isVerified && { email_verified: as.now() }),
      created: as.now(),
    };
    const done = await as.store.commit({
      check: [
        { key: index, version: null },
        { key: permit.key, version: permit.version },
        ...claim.check,
      ],
      set: [{ key: index, value: id }, { key: userKey(id), value: user }, ...claim.set],
      remove: [permit.key],
    });
    return done ? { user } : LOST_RACE;
  });
}
