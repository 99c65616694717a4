/**
 * What the authorization server stores: for each kind its key, who writes it, and what ends it.
 * Secrets appear only as digests (`crypto/secret.ts`). Times are milliseconds since the epoch.
 *
 * @module
 */
import type { Key } from "../store/store.ts";

/** Written by `client.ts` (registration); ended by its removal. Member names follow RFC 7591 §2 where it has one. */
export interface Client {
  readonly id: string;
  readonly name: string;
  /** Absent for a public client (RFC 6749 §2.1). */
  readonly secret_digest?: string;
  /** Exact redirect URIs; a loopback one matches on any port (RFC 8252 §7.3). */
  readonly redirect_uris?: readonly string[];
  /** Shorthand for any https redirect URI on exactly this host; an origin pins the scheme too. */
  readonly domain?: string;
  readonly grant_types: readonly GrantType[];
  /** Space-separated; absent means every scope of the operator but `admin`. */
  readonly scope?: string;
  readonly created: number;
}

export type GrantType = "authorization_code" | "refresh_token" | "client_credentials";

/** Written by `user.ts`; ended by its removal. */
export interface User {
  readonly id: string;
  readonly username: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly created: number;
}

/** Written at login, under a new id; ended by logout or its lifetime. */
export interface Session {
  readonly user: string;
  readonly created: number;
}

/** A checked authorization request that waits for the user's answer. Written by `authorize.ts`, used once. */
export interface Transaction {
  readonly session: string;
  readonly user: string;
  readonly client_id: string;
  readonly redirect_uri: string;
  /** Whether the client sent `redirect_uri`, and must send it again (RFC 6749 §4.1.3). */
  readonly redirect_uri_sent: boolean;
  readonly scope: string;
  readonly state?: string;
  readonly code_challenge?: string;
}

/** Written at consent; a spent one stays a while, so that a replay is seen and ends its grant. */
export interface Code {
  readonly client_id: string;
  readonly user: string;
  readonly redirect_uri: string;
  readonly redirect_uri_sent: boolean;
  readonly scope: string;
  readonly code_challenge?: string;
  readonly grant: string;
  /** When it can no longer be redeemed; the record itself lives longer. */
  readonly until: number;
  readonly spent: boolean;
}

/**
 * What a user allowed a client: the root of a family of tokens. Removing it ends them all, at once and
 * everywhere, because a token is only good while its grant lives.
 */
export interface Grant {
  readonly user: string;
  readonly client_id: string;
  readonly scope: string;
  readonly created: number;
  /** The one refresh token that works now; absent when the client may not refresh. */
  readonly refresh?: { readonly digest: string; readonly expires: number };
  /** The one before it, and the answer that its use got, sealed under it: for retries until `until`. */
  readonly previous?: { readonly digest: string; readonly until: number; readonly answer: string };
}

/** An opaque access token. Written when it is issued; ended by its lifetime or with its grant. */
export interface AccessToken {
  readonly client_id: string;
  readonly user?: string;
  readonly grant?: string;
  readonly scope: string;
  readonly expires: number;
}

/** A private signing key. Written once at first use. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: "ES256";
  readonly jwk: JsonWebKey;
  readonly created: number;
}

export const clientKey = (id: string): Key => ["client", id];
export const userKey = (id: string): Key => ["user", id];
export const usernameKey = (username: string): Key => ["username", username];
export const sessionKey = (digest: string): Key => ["session", digest];
export const transactionKey = (digest: string): Key => ["transaction", digest];
export const codeKey = (digest: string): Key => ["code", digest];
export const grantKey = (id: string): Key => ["grant", id];
export const accessTokenKey = (digest: string): Key => ["access_token", digest];
/** Of a JWT access token; the record lives as long as the token would have. */
export const revokedTokenKey = (jti: string): Key => ["revoked_token", jti];
export const signingKeyKey = (kid: string): Key => ["signing_key", kid];
