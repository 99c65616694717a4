/**
 * Adds, renames and removes factors. Each change is one commit on the user's record.
 *
 * @module
 */
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import type { Commit, Store } from "../../store/store.ts";
import type { FindOtherWay } from "../sign_in/user_identity.ts";
import {
  type Passkey,
  passkeyKey,
  type RecoveryFactor,
  type TotpFactor,
  type UserFactors,
  userFactorsKey,
} from "./factor_record.ts";
import { createRecoveryCodes, recoveryDigest } from "./recovery_code.ts";

export const MAX_PASSKEYS = 20;
export const MAX_NAME_CHARACTERS = 64;

/** A name on one line, cut without half of a surrogate pair: strict JSON parsers refuse it. */
export function toFactorName(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\u0000-\u001f\u007f]+/g, " ").trim().slice(0, MAX_NAME_CHARACTERS).toWellFormed();
}

/** Replaces the authenticator app of the user. */
export function setTotp(store: Store, user: string, totp: TotpFactor): Promise<boolean> {
  return changeFactors(store, user, (factors) => ({ factors: { ...factors, totp } }));
}

/** `false` when the user has the most passkeys already, or the credential is registered. */
export function addPasskey(store: Store, user: string, passkey: Passkey): Promise<boolean> {
  const key = passkeyKey(passkey.id);
  return retryLostRaces(async () => {
    if (await store.get(key)) return false;
    const entry = await store.get<UserFactors>(userFactorsKey(user));
    const { passkeys = [] } = entry?.value ?? {};
    if (passkeys.length >= MAX_PASSKEYS) return false;
    const value: UserFactors = { ...entry?.value, passkeys: [...passkeys, passkey] };
    const done = await store.commit({
      check: [{ key: userFactorsKey(user), version: entry?.version ?? null }, { key, version: null }],
      set: [{ key: userFactorsKey(user), value }, { key, value: user }],
    });
    return done || LOST_RACE;
  });
}

/** `false` when there is no such passkey. */
export function renamePasskey(store: Store, user: string, id: string, name: string): Promise<boolean> {
  return changeFactors(store, user, (factors) => {
    if (!factors.passkeys?.some((each) => each.id === id)) return undefined;
    const passkeys = factors.passkeys.map((each) => each.id === id ? { ...each, name } : each);
    return { factors: { ...factors, passkeys } };
  });
}

/**
 * Removes a passkey. The last way to sign in stays.
 * @param findOtherWay finds a way to sign in without any passkey
 * @returns `"unknown"` when there is no such passkey, `"last"` when the user could not sign in without it
 */
export async function removePasskey(
  store: Store,
  user: string,
  id: string,
  findOtherWay: FindOtherWay,
): Promise<"removed" | "unknown" | "last"> {
  let isLast = false;
  const isRemoved = await changeFactors(store, user, async (factors) => {
    isLast = false;
    if (!factors.passkeys?.some((each) => each.id === id)) return undefined;
    const passkeys = factors.passkeys.filter((each) => each.id !== id);
    const check = passkeys.length > 0 ? [] : await findOtherWay();
    isLast = check === undefined;
    return check && { factors: { ...factors, passkeys }, remove: [passkeyKey(id)], check };
  });
  return isRemoved ? "removed" : isLast ? "last" : "unknown";
}

/** `false` when the user has no authenticator app. */
export function removeTotp(store: Store, user: string): Promise<boolean> {
  return changeFactors(store, user, ({ totp, ...factors }) => totp && { factors });
}

/**
 * Replaces the recovery codes of a user who has a factor.
 * @param onlyFirst leaves codes that exist as they are
 * @returns the new codes, which are not stored; `undefined` without a factor, or when there are codes
 */
export async function renewRecoveryCodes(
  store: Store,
  user: string,
  now: number,
  onlyFirst: boolean = false,
): Promise<readonly string[] | undefined> {
  const codes = createRecoveryCodes();
  const recovery: RecoveryFactor = { digests: codes.map((code) => recoveryDigest(code)!), created: now };
  const done = await changeFactors(store, user, (factors) => {
    if (!hasFactor(factors) || onlyFirst && factors.recovery) return undefined;
    return { factors: { ...factors, recovery } };
  });
  return done ? codes : undefined;
}

/** Removes every factor of a user, who then signs in with the first factor alone. `false` when there was none. */
export function removeFactors(store: Store, user: string): Promise<boolean> {
  return changeFactors(
    store,
    user,
    ({ totp, passkeys = [] }) => {
      if (!totp && passkeys.length === 0) return undefined;
      return { factors: {}, remove: passkeys.map(({ id }) => passkeyKey(id)) };
    },
  );
}

interface Change {
  readonly factors: UserFactors;
  readonly remove?: NonNullable<Commit["remove"]>;
  readonly check?: NonNullable<Commit["check"]>;
}

/** Recovery codes alone count for nothing. */
function hasFactor({ totp, passkeys = [] }: UserFactors): boolean {
  return totp !== undefined || passkeys.length > 0;
}

/** Changes the record; the last factor takes the recovery codes with it. `false` when `change` gives nothing. */
function changeFactors(
  store: Store,
  user: string,
  change: (factors: UserFactors) => Change | undefined | Promise<Change | undefined>,
): Promise<boolean> {
  const key = userFactorsKey(user);
  return retryLostRaces(async () => {
    const entry = await store.get<UserFactors>(key);
    const changed = await change(entry?.value ?? {});
    if (!changed) return false;
    const { factors: { passkeys = [], totp, recovery }, remove = [], check = [] } = changed;
    const isEmpty = !hasFactor(changed.factors);
    const value: UserFactors = {
      ...(totp && { totp }),
      ...(passkeys.length > 0 && { passkeys }),
      ...(recovery && { recovery }),
    };
    const done = await store.commit({
      check: [{ key, version: entry?.version ?? null }, ...check],
      set: isEmpty ? [] : [{ key, value }],
      remove: isEmpty ? [key, ...remove] : remove,
    });
    return done || LOST_RACE;
  });
}
