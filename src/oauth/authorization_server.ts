/**
 * The object that every function of this room takes first: what the operator decided, and what it needs to
 * act on it. Made once by `service.ts`.
 *
 * @module
 */
import type { PublicJwk } from "../crypto/jwk.ts";
import type { JwsAlgorithm } from "../crypto/jws.ts";
import type { PasswordHasher } from "../crypto/password.ts";
import type { PasswordMemory } from "../crypto/password_memory.ts";
import type { Observe } from "../events.ts";
import type { Connect } from "../http/network/public_fetch.ts";
import type { Store } from "../store/store.ts";
import type { LoginThrottle } from "./users/login_throttle.ts";
import type { PasswordQueue } from "./users/password_queue.ts";
import type { RecentCounts } from "./users/recent_counts.ts";
import type { AuthorizationDetail, Client, Profile, UserRole } from "./records.ts";
import type { RemoteDocuments } from "./clients/remote_document.ts";
import type { Room } from "./room.ts";
import type { SigningKeys } from "./tokens/signing_keys.ts";
import type { Throttle } from "./users/throttle.ts";

/** What a scope allows, as the consent page says it, and which others it brings along. */
export interface ScopeDefinition {
  readonly description: string;
  /** Scopes that whoever has this one has too. @default none */
  readonly implies?: readonly string[];
  /**
   * Whether a client gets it that names no scope. @default where no scope says so, whether it and all that it implies are
   * named `profile`, `read` or `….read`
   */
  readonly default?: boolean;
  /** The least role of a user who may grant it; give it to what changes what users share. @default "reader"; "admin" for `admin` and `clients:register` */
  readonly role?: UserRole;
}

/** Something that tokens can be for (RFC 8707), and what its tokens are like. */
export interface ProtectedResource {
  /** Its identifier: an absolute URI without fragment. */
  readonly resource: string;
  /** As the consent page calls it. @default its identifier */
  readonly name?: string;
  /** What its tokens can say. @default every scope */
  readonly scopes?: readonly string[];
  readonly accessTokenFormat?: "opaque" | "jwt";
  /** Seconds. */
  readonly accessTokenLifetime?: number;
}

/** Somebody else whose word about a user counts here (RFC 7523 §2.1): an identity provider. */
export interface TrustedIssuer {
  /** The `iss` of its assertions. */
  readonly issuer: string;
  /** Its public keys, or their https address. */
  readonly jwks?: { readonly keys: readonly PublicJwk[] };
  readonly jwks_uri?: string;
  /** The user that an assertion is about; `undefined` when there is none. @default the user with the id `sub` */
  user?(claims: Readonly<Record<string, unknown>>): Promise<Profile | undefined>;
}

/** A type of `authorization_details` (RFC 9396) that this server understands. */
export interface AuthorizationDetailType {
  /** What is wrong with a detail of this type; `undefined` when nothing is. */
  check(detail: AuthorizationDetail): string | undefined;
  /** What it allows, in a line of text for the consent page. */
  describe(detail: AuthorizationDetail): string;
}

/** Somebody who signed in. */
export interface AuthenticatedUser extends Profile {
  /** How they proved it, in the operator's words: RFC 9470 §3. @default "password" */
  readonly acr?: string;
}

/** A proxy in front that checks client certificates (RFC 8705), and how it tells of them. */
export interface CertificateProxy {
  /** Its addresses: what comes from others is not believed. */
  readonly addresses: readonly string[];
  /** The field with the certificate: `client-cert` (RFC 9440), or one with percent-encoded PEM. */
  readonly certificateField: string;
  /** The field and the value by which it says that it trusts who issued the certificate. */
  readonly verifiedField?: string;
  readonly verifiedValue?: string;
}

/** The complete options of the authorization server; `options.ts` makes them of what the user gave. */
export interface AuthorizationServerOptions {
  /** Who issues: an https URL (http on loopback) without query and fragment, compared byte by byte. */
  readonly issuer: string;
  readonly store: Store;
  /** Clients that the operator configured, found before those in the store. */
  readonly clients: readonly Client[];
  /** Ids of clients that the operator vouches for: see `ClientRegistration.trusted`. */
  readonly trustedClients: ReadonlySet<string>;
  readonly scopes: Readonly<Record<string, string | ScopeDefinition>>;
  /** What tokens can be for beside the server as a whole. */
  readonly resources: readonly ProtectedResource[];
  readonly accessTokenFormat: "opaque" | "jwt";
  /** Seconds. */
  readonly accessTokenLifetime: number;
  /** Seconds since its last rotation. */
  readonly refreshTokenLifetime: number;
  /** Seconds since the user allowed it, however often it is rotated. */
  readonly grantLifetime: number;
  /** Seconds in which a retried refresh gets the same answer again. */
  readonly refreshRetryGrace: number;
  /** Seconds. */
  readonly codeLifetime: number;
  /** Seconds. */
  readonly pushedRequestLifetime: number;
  /** Seconds. */
  readonly deviceCodeLifetime: number;
  /** Seconds since login. */
  readonly sessionLifetime: number;
  /** Seconds since it was last used. */
  readonly sessionIdleLifetime: number;
  /** Seconds for which a user is not asked the same again. */
  readonly consentLifetime: number;
  /** Iterations of PBKDF2 for new and upgraded password hashes. */
  readonly passwordIterations: number;
  /** The first is the default. */
  readonly signingAlgorithms: readonly JwsAlgorithm[];
  /** Seconds that a key signs. */
  readonly signingKeyLifetime: number;
  /** Seconds between publishing a key and signing with it. */
  readonly signingKeyNotice: number;
  /** Who may register a client (RFC 7591): everybody, who has a token with the scope `clients:register`, nobody. */
  readonly registration: "open" | "token" | "off";
  /** Seconds that a client which registered itself is kept without being used. */
  readonly registrationLifetime: number;
  /** Whether a client id may be the address of a document that describes the client, asked anew for each request. */
  readonly clientMetadataDocuments: () => boolean;
  /** Private-use schemes without a dot that redirect URIs may have. */
  readonly redirectSchemes: readonly string[];
  /** RFC 9126 §5: every client must push its requests. */
  readonly requirePushedRequests: boolean;
  /** RFC 9449 §8: proofs must hold a nonce of this server. */
  readonly requireDpopNonce: boolean;
  readonly trustedIssuers: readonly TrustedIssuer[];
  readonly authorizationDetailTypes: Readonly<Record<string, AuthorizationDetailType>>;
  readonly certificateProxy: CertificateProxy | undefined;
  /** Who the form of a login is from; left out, the users in the store. */
  readonly authenticateUser:
    | ((form: ReadonlyMap<string, string>, request: Request) => Promise<AuthenticatedUser | undefined>)
    | undefined;
  /** The ways of signing in that a client may ask for (RFC 9470 §4). */
  readonly acrValues: readonly string[];
  /** The role of users of whom none is known. */
  readonly defaultRole: UserRole;
  /** How documents and keys that strangers name are fetched; the runtime entry's way, when left out. */
  readonly connect: Connect | undefined;
  /** 32 bytes that all instances share. */
  readonly secret: () => Promise<Uint8Array>;
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
  /** What each scope means to a person. */
  readonly descriptions: ReadonlyMap<string, string>;
  /** The scopes that each scope implies, itself included. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** What a client may have whose registration names no scope. */
  readonly commonScopes: readonly string[];
  /** What a client gets that names no scope, in its request or its registration. */
  readonly defaultScopes: readonly string[];
  /** The least role that a user needs to grant a scope. */
  readonly scopeRoles: ReadonlyMap<string, UserRole>;
  readonly configured: ReadonlyMap<string, Client>;
  /** By their identifiers in canonical spelling. */
  readonly protectedResources: ReadonlyMap<string, ProtectedResource>;
  readonly documents: RemoteDocuments;
  readonly keys: SigningKeys;
  readonly throttle: Throttle;
  readonly room: Room;
  readonly loginThrottle: LoginThrottle;
  readonly passwords: PasswordHasher;
  readonly passwordMemory: PasswordMemory;
  readonly passwordQueue: PasswordQueue;
  /** Wrong passwords and secrets that no series counts: they only change how a refusal reads. */
  readonly wrongGuesses: RecentCounts;
}
