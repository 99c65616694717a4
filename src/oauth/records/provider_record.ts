/**
 * What is stored of identity providers, and of the accounts that users have there.
 *
 * @module
 */
import type { Key } from "../../store/store.ts";
import type { UserRole } from "./user_record.ts";

/** An identity provider that the operator added. Written by `sign_in/stored_provider.ts`; ended by its removal. */
export interface StoredProvider {
  readonly kind: "oidc" | "google" | "entra" | "github" | "apple";
  readonly id: string;
  readonly name?: string | undefined;
  readonly clientId: string;
  readonly sealedSecret?: string;
  readonly issuer?: string | undefined;
  readonly tenant?: string | undefined;
  readonly domains?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly roles?: Readonly<Partial<Record<UserRole, readonly string[]>>> | undefined;
  readonly scopes?: Readonly<Record<string, readonly string[]>> | undefined;
  readonly groupsClaim?: string | undefined;
  readonly keepTokens?: boolean | undefined;
  /** Of Apple. */
  readonly teamId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly added: number;
}

/** Another value of one of these makes it another client, or another server: tokens of before are not for it. */
const CLIENT_MEMBERS = ["kind", "issuer", "tenant", "clientId"] as const;

/** Whether both settings are of one client of one server. */
export function isSameClient(a: StoredProvider, b: StoredProvider): boolean {
  return CLIENT_MEMBERS.every((name) => a[name] === b[name]);
}

/** Whose account an identity at a provider is. Written at the first sign-in; ended by unlinking it or with the user. */
export interface LinkedAccount {
  readonly user: string;
  /** The id of the provider at the first sign-in. */
  readonly provider: string;
  readonly linked: number;
  /** The user linked it to an account that existed: name and address of the account are not the provider's. */
  readonly added?: true;
  /** The role of the invitation, for as long as the provider gives none, where an earlier version wrote it. */
  readonly invited_role?: UserRole;
}

/** The same by user, for the account pages. Written with the linked account, and for earlier ones at the next sign-in. */
export interface UserIdentity {
  /** The id of the provider at the last sign-in. */
  readonly provider: string;
  readonly linked: number;
  /** How the user knows the account there: its e-mail address or name. */
  readonly label: string;
}

/**
 * The tokens of a provider for a user, sealed. Written at sign-in and refresh by `sign_in/provider_tokens.ts`; ended by
 * unlinking the identity, or with the user.
 */
export interface StoredProviderTokens {
  readonly issuer: string;
  readonly subject: string;
  /** JSON of the tokens, bound to the key of this record and to the identity. */
  readonly sealed: string;
  /** When the access token should be refreshed, in milliseconds; absent when the provider does not say. */
  readonly stale?: number;
  readonly hasRefreshToken: boolean;
  /** The instance that refreshes them now, or that failed to: until then no other one tries. */
  readonly refresh?: { readonly by: string; readonly until: number; readonly failed?: true };
}

/** By what the provider never gives to another user. */
export const linkedAccountKey = (issuer: string, subject: string): Key => ["linked_account", issuer, subject];
export const userIdentitiesPrefix = (user: string): Key => ["user_identity", user];
export const userIdentityKey = (user: string, issuer: string, subject: string): Key => [
  ...userIdentitiesPrefix(user),
  issuer,
  subject,
];
export const userProviderTokensPrefix = (user: string): Key => ["provider_tokens", user];
export const providerTokensKey = (user: string, provider: string): Key => [
  ...userProviderTokensPrefix(user),
  provider,
];
export const providerKey = (id: string): Key => ["provider", id];
