/**
 * What is stored of a user's factors beside the password: one record for each user, so that every change is one
 * compare-and-set, and an index of passkeys.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Key, Store } from "../../store/store.ts";

/** Written when the first factor is confirmed; ended with the last one, or with the user. */
export interface UserFactors {
  readonly totp?: TotpFactor;
  readonly passkeys?: readonly Passkey[];
  readonly recovery?: RecoveryFactor;
}

/** An authenticator app. */
export interface TotpFactor {
  /** The secret, sealed for this user. */
  readonly sealed: string;
  readonly created: number;
  /** The step of the last code that was accepted: neither it nor an earlier one is accepted again (RFC 6238 section 5.2). */
  readonly step: number;
  readonly used?: number;
}

/** A WebAuthn credential. */
export interface Passkey {
  /** The credential id, base64url. */
  readonly id: string;
  /** The public key as the authenticator gave it (COSE), base64url. */
  readonly publicKey: string;
  readonly name: string;
  /** The signature counter of its last use; 0 for authenticators that do not count. */
  readonly counter: number;
  readonly transports?: readonly string[];
  readonly created: number;
  readonly used?: number;
  /** Whether it is synchronized to other devices. */
  readonly synced?: true;
}

/** The digests of the recovery codes that are not used yet. */
export interface RecoveryFactor {
  readonly digests: readonly string[];
  readonly created: number;
}

export const userFactorsKey = (user: string): Key => ["user_factors", user];
/** Leads from a credential to its user, and keeps a credential from being registered twice (WebAuthn section 7.1). */
export const passkeyKey = (credential: string): Key => ["passkey", secretDigest(credential)];

/** Where factors are stored, and which of them the operator allows. */
type FactorServer = Pick<AuthorizationServer, "store" | "factors">;

/** The factors of a user that the options allow; empty when there are none, and without a store call when none can be. */
export async function findFactors({ store, factors }: FactorServer, user: string): Promise<UserFactors> {
  if (!factors.totp && !factors.passkeys) return {};
  const { totp, passkeys, recovery } = (await store.get<UserFactors>(userFactorsKey(user)))?.value ?? {};
  return {
    ...(totp && factors.totp && { totp }),
    ...(passkeys && factors.passkeys && { passkeys }),
    ...(recovery && { recovery }),
  };
}

/** Whether a login of this user has a second step. Recovery codes alone are no factor. */
export function hasSecondFactor({ totp, passkeys = [] }: UserFactors): boolean {
  return totp !== undefined || passkeys.length > 0;
}

/** The records of a user's factors, for the commit that removes the user. */
export async function factorKeys(store: Store, user: string): Promise<Key[]> {
  const { passkeys = [] } = (await store.get<UserFactors>(userFactorsKey(user)))?.value ?? {};
  return [userFactorsKey(user), ...passkeys.map(({ id }) => passkeyKey(id))];
}
