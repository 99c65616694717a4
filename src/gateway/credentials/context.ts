/**
 * What the credentials of all upstreams share, and the settings of one.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";
import type { Observe } from "../../events.ts";
import type { Principal } from "../../http/principal.ts";
import type { OAuthService } from "../../oauth/service.ts";
import type { Store } from "../../store/store.ts";
import { AccessDenied } from "./access.ts";
import type { ConnectLinks } from "./connect_link.ts";
import type { Network, Networks } from "./network.ts";
import type { SealedRecords } from "./sealed_records.ts";
import type { UpstreamAuth } from "./upstream_auth.ts";

/** What is needed of the authorization server. */
export type IdentityHooks = Pick<OAuthService, "providerAccess" | "issueIdentityAssertion">;

export interface CredentialsContext {
  readonly store: Store;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly observe: Observe;
  readonly issuer: string;
  /** The address of the server without a slash at its end. */
  readonly place: string;
  /** How this server calls itself where it registers as a client. */
  readonly clientName: string;
  readonly records: SealedRecords;
  readonly networks: Networks;
  readonly links: ConnectLinks;
  readonly oauth: IdentityHooks | undefined;
}

/** An upstream whose configuration is checked. */
export interface Upstream<Auth extends UpstreamAuth = UpstreamAuth> {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth: Auth;
  readonly isPrivate: boolean;
}

/** The pages of connections, below the address of the server. */
export const CONNECTIONS_PATH = "/account/connections";

export function networkOf({ networks }: CredentialsContext, isPrivate: boolean | undefined): Network {
  return isPrivate ? networks.private : networks.public;
}

/**
 * The redirect URI of this server as a client: another one for each authorization server, so that an answer of one is never
 * taken for that of another (mix-up, RFC 9700 section 4.4.2.2), also where servers do not send `iss`.
 * @param server {@linkcode tagOf} the issuer, or the name of the upstream for a client that the operator registered
 */
export function redirectUriOf({ place }: CredentialsContext, server: string): string {
  return `${place}${CONNECTIONS_PATH}/callback/${encodeURIComponent(server)}`;
}

/** Stands for an issuer in paths, and for the URL of an upstream in forms. */
export function tagOf(url: string): string {
  return secretDigest(url).slice(0, 22);
}

/**
 * The user of this server for whom the call is made.
 * @throws {AccessDenied} for anonymous callers, clients that act for themselves, and users of another issuer
 */
export function requireUser({ name }: Upstream, caller: Principal | undefined): string {
  if (caller?.subject === undefined) {
    throw new AccessDenied(name, `"${name}" needs a user: sign in, and call it with a token of that user`);
  }
  if (caller.issuer !== undefined) {
    throw new AccessDenied(name, `"${name}" can only be connected by users of this server`);
  }
  return caller.subject;
}

/** Callers of one user share a session of the upstream. */
export function partitionByUser(caller: Principal | undefined): string {
  if (caller?.subject === undefined) return "anonymous";
  return caller.issuer === undefined
    ? `user ${caller.subject}`
    : `foreign ${caller.issuer} ${caller.subject}`;
}
