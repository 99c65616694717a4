/**
 * The object that every function of this room takes first: what the operator decided, and what it needs to
 * act on it. Made once by `service.ts`.
 *
 * @module
 */
import type { Observe } from "../events.ts";
import type { Store } from "../store/store.ts";
import type { Client } from "./records.ts";
import type { SigningKeys } from "./signing_keys.ts";

/** The complete options of the authorization server; `options.ts` makes them of what the user gave. */
export interface AuthorizationServerOptions {
  /** Who issues: an https URL (http on loopback) without query and fragment, compared byte by byte. */
  readonly issuer: string;
  readonly store: Store;
  /** Clients that the operator configured, found before those in the store. */
  readonly clients: readonly Client[];
  /** Scope to what it allows, as the consent page says it. */
  readonly scopes: Readonly<Record<string, string>>;
  readonly accessTokenFormat: "opaque" | "jwt";
  /** Seconds. */
  readonly accessTokenLifetime: number;
  /** Seconds since its last rotation. */
  readonly refreshTokenLifetime: number;
  /** Seconds in which a retried refresh gets the same answer again. */
  readonly refreshRetryGrace: number;
  /** Seconds. */
  readonly codeLifetime: number;
  /** Seconds. */
  readonly sessionLifetime: number;
  /** Iterations of PBKDF2 for new and upgraded password hashes. */
  readonly passwordIterations: number;
  readonly observe: Observe;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface AuthorizationServer extends AuthorizationServerOptions {
  /** The issuer's path without a trailing slash: what every path of ours begins with. */
  readonly base: string;
  readonly origin: string;
  /** Whether cookies are sent over https only. */
  readonly secure: boolean;
  /** What a client may have whose registration names no scope. */
  readonly commonScopes: readonly string[];
  readonly configured: ReadonlyMap<string, Client>;
  readonly keys: SigningKeys;
}
