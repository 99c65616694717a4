/**
 * What is stored of a user, and the links with which accounts are made and kept.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { Key } from "../../store/store.ts";

/** What a user may let applications do (`user_role.ts`). */
export type UserRole = "reader" | "author" | "admin";

/** A user with a password. Times are milliseconds since the epoch. Written by `user.ts`; ended by its removal. */
export interface User {
  readonly id: string;
  readonly username: string;
  readonly name: string;
  readonly email: string;
  readonly role?: UserRole;
  /** The hash. */
  readonly password: string;
  /** No password is set: the user signs in by other means. */
  readonly passwordless?: true;
  /** When the password was changed last; absent since the user was added. */
  readonly password_changed?: number;
  /** When the user proved that they read mail at `email`. */
  readonly email_verified?: number;
  /** When the account was locked: until it is unlocked its user is absent everywhere (`liveness.ts`). */
  readonly locked?: number;
  readonly created: number;
  /** When the name or the address was changed. @default `created` */
  readonly updated?: number;
}

/** What this server says about a user. Stored for users that the embedder authenticates. */
export interface Profile {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  /** Whether the address was verified to be the user's, or when. @default false */
  readonly email_verified?: boolean | number;
  /** The name with which the user signs in: `preferred_username` of OpenID Connect. */
  readonly username?: string;
  /** @default the option `defaultRole` */
  readonly role?: UserRole;
  /** The role that an operator gave a user of an identity provider, for as long as the provider gives none. */
  readonly assigned_role?: UserRole;
  /**
   * The scopes that the identity provider's groups decide on, instead of the role: whether the user may grant each. As at
   * the last sign-in there.
   */
  readonly scopes?: Readonly<Record<string, boolean>>;
  /** As in {@linkcode User}. */
  readonly locked?: number;
  /** When something of this was changed, in milliseconds since the epoch. Written by `saveProfile`. */
  readonly updated?: number;
  /**
   * When another system first named the user, since the last removal here: it gives the id again, and what is older belongs to
   * the user who was removed. Absent for others, and in records of earlier versions.
   */
  readonly known_since?: number;
}

/** Whether what was given to a user of this id then was given to this one. An unknown time counts as right. */
export function isGivenTo({ known_since = 0 }: Profile, given: number = Infinity): boolean {
  return given >= known_since;
}

/** The link with which a user sets a new password. Written by `mail/password_reset.ts`; ended by its use, a login, or its lifetime. */
export interface PasswordReset {
  readonly digest: string;
  /** {@linkcode accountDigest}: another password or address ends the link. */
  readonly account: string;
}

/** The link that proves an address. Written by `mail/email_verification.ts`; ended by its use or its lifetime. */
export interface EmailVerification {
  readonly digest: string;
  readonly email: string;
  /** {@linkcode accountDigest}: another password or address ends the link. */
  readonly account: string;
}

/** Ties a mailed link to the account as it was: who recovers an account also ends the links that another one asked for. */
export function accountDigest({ password, email }: Pick<User, "password" | "email">): string {
  return secretDigest(`${password}\n${email}`);
}

/** An account that waits for its address to be verified. Written by `sign_up/pending_sign_up.ts`; ended by its use or its lifetime. */
export interface PendingSignUp {
  readonly username: string;
  readonly name: string;
  readonly email: string;
  /** The hash. */
  readonly password: string;
  /** The digest of a secret in the browser that signed up. */
  readonly browser: string;
  /** The path to which the browser goes then, or "". */
  readonly redirect: string;
  readonly created: number;
}

/** Written by `sign_up/invitation.ts`; ended by its use, its removal or its lifetime. */
export interface Invitation {
  readonly id: string;
  readonly digest: string;
  /** The only address that may use it. */
  readonly email?: string;
  /** The link was sent to that address and to no one else, so its use verifies it. */
  readonly mailed?: true;
  readonly role?: UserRole;
  readonly created: number;
  readonly expires: number;
}

export const userKey = (id: string): Key => ["user", id];
export const usernameKey = (username: string): Key => ["username", username];
/** The user who verified an address. It may be out of date: the user's record decides. */
export const verifiedEmailKey = (email: string): Key => ["verified_email", email];
export const passwordResetKey = (user: string): Key => ["password_reset", user];
export const emailVerificationKey = (user: string): Key => ["email_verification", user];
export const signUpKey = (digest: string): Key => ["sign_up", digest];
export const INVITATIONS: Key = ["invitation"];
export const invitationKey = (id: string): Key => [...INVITATIONS, id];
export const profileKey = (id: string): Key => ["profile", id];
