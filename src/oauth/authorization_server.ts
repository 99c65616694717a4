/**
 * The object that every function of this module takes first: the operator's options and what was built from them.
 * `service.ts` creates it once.
 *
 * @module
 */
import type { PublicJwk } from "../crypto/jwk.ts";
import type { JwsAlgorithm } from "../crypto/jws.ts";
import type { PasswordHasher } from "../crypto/password.ts";
import type { PasswordMemory } from "../crypto/password_memory.ts";
import type { FindSecrets } from "../crypto/server_secrets.ts";
import type { Observe } from "../events.ts";
import type { Connect, PublicFetch } from "../http/network/public_fetch.ts";
import type { RequestContext } from "../http/service.ts";
import type { Store } from "../store/store.ts";
import type { SendMail } from "./mail/mail.ts";
import type { FactorSettings } from "./factors/settings.ts";
import type { OpenIdSettings } from "./openid/options.ts";
import type { Language } from "./pages/languages.ts";
import type { PageSettings } from "./pages/settings.ts";
import type { LoginField } from "./users/login_field.ts";
import type { LoginThrottle } from "./users/throttle/login_throttle.ts";
import type { PasswordPolicy } from "./users/password_policy.ts";
import type { PasswordQueue } from "./users/password_queue.ts";
import type { RecentCounts } from "./users/throttle/recent_counts.ts";
import type { AuthorizationDetail } from "./records/authorization_record.ts";
import type { Client } from "./records/client_record.ts";
import type { Profile, UserRole } from "./records/user_record.ts";
import type { RemoteDocuments } from "./clients/remote_document.ts";
import type { ProviderDirectory, SignInProvider } from "./sign_in/provider.ts";
import type { SignUpSettings } from "./sign_up/options.ts";
import type { StorageQuota } from "./storage_quota.ts";
import type { SecurityProfile } from "./security_profile.ts";
import type { SigningKeys } from "./tokens/signing_keys.ts";
import type { Throttle } from "./users/throttle/throttle.ts";

/** A scope: what it allows, in the words of the consent page, and which other scopes it implies. */
export interface ScopeDefinition {
  readonly description: string;
  /** The description in other languages, such as `{ de: "Ihre Daten lesen" }`. @default `description` */
  readonly descriptions?: Readonly<Partial<Record<Language, string>>>;
  /** Scopes that a token with this scope has too. @default none */
  readonly implies?: readonly string[];
  /**
   * Whether a client that names no scope gets this one. @default where no scope sets it: whether this scope and all that
   * it implies are named `profile`, `read` or `….read`
   */
  readonly default?: boolean;
  /** The lowest role of a user who may grant it. Set it for scopes that change what users share. @default "reader"; "admin" for `admin` and `clients:register` */
  readonly role?: UserRole;
}

/** A resource that tokens can be issued for (RFC 8707), and the format of its tokens. */
export interface ProtectedResource {
  /** Its identifier: an absolute URI without fragment. */
  readonly resource: string;
  /** Its name on the consent page. @default its identifier */
  readonly name?: string;
  /** The scopes that its tokens can have. @default every scope */
  readonly scopes?: readonly string[];
  readonly accessTokenFormat?: "opaque" | "jwt";
  /** Seconds. */
  readonly accessTokenLifetime?: number;
}

/** An identity provider whose assertions about users are accepted (RFC 7523 §2.1). */
export interface TrustedIssuer {
  /** The `iss` of its assertions. */
  readonly issuer: string;
  /** Its public keys, or their https URL. */
  readonly jwks?: { readonly keys: readonly PublicJwk[] };
  readonly jwks_uri?: string;
  /** Refuses its assertions that are not identity assertions (`typ` `oauth-id-jag+jwt`), which name their client. */
  readonly requireIdJag?: boolean;
  /** The user that an assertion is about; `undefined` when there is none. @default the user with the id `sub` */
  user?(claims: Readonly<Record<string, unknown>>): Promise<Profile | undefined>;
}

/** A type of `authorization_details` (RFC 9396) that this server understands. */
export interface AuthorizationDetailType {
  /** Returns what is wrong with a detail of this type; `undefined` when it is valid. */
  check(detail: AuthorizationDetail): string | undefined;
  /** Returns what it allows, in one line of text for the consent page. */
  describe(detail: AuthorizationDetail): string;
}

/** A user who has signed in. */
export interface AuthenticatedUser extends Profile {
  /** The authentication context class (RFC 9470 §3). @default "password" */
  readonly acr?: string;
  /** The authentication methods (RFC 8176). @default ["pwd"] for the acr "password" */
  readonly amr?: readonly string[];
  /** Other, weaker classes that this login is good enough for. @default none */
  readonly satisfies?: readonly string[];
}

/** A reverse proxy that verifies client certificates (RFC 8705), and the header fields in which it passes them on. */
export interface CertificateProxy {
  /** Its IP addresses: the fields of requests from other addresses are ignored. */
  readonly addresses: readonly string[];
  /** The header field with the certificate: `client-cert` (RFC 9440), or one with percent-encoded PEM. */
  readonly certificateField: string;
  /** The header field and its value that say that the proxy trusts the issuer of the certificate. */
  readonly verifiedField?: string;
  readonly verifiedValue?: string;
}

/** The complete options of the authorization server; `options/oauth_options.ts` completes what the operator gave. */
export interface AuthorizationServerOptions {
  /** The issuer identifier: an https URL (http on loopback) without query and fragment, compared byte by byte. */
  readonly issuer: string;
  readonly store: Store;
  /** Clients that the operator configured, found before those in the store. */
  readonly clients: readonly Client[];
  /** Ids of clients that the operator trusts: see `ClientRegistration.trusted`. */
  readonly trustedClients: ReadonlySet<string>;
  readonly scopes: Readonly<Record<string, string | ScopeDefinition>>;
  /** The resources that tokens can be issued for, beside the server as a whole. */
  readonly resources: readonly ProtectedResource[];
  readonly accessTokenFormat: "opaque" | "jwt";
  /** Seconds. */
  readonly accessTokenLifetime: number;
  /** Seconds since the last rotation. */
  readonly refreshTokenLifetime: number;
  /** Seconds since the user consented, whatever the number of rotations. */
  readonly grantLifetime: number;
  /** Seconds in which a retried refresh request gets the same response again. */
  readonly refreshRetryGrace: number;
  /** Seconds. */
  readonly codeLifetime: number;
  /** Seconds. */
  readonly pushedRequestLifetime: number;
  /** Seconds. */
  readonly deviceCodeLifetime: number;
  /** Seconds since login. */
  readonly sessionLifetime: number;
  /** Seconds since the last use. */
  readonly sessionIdleLifetime: number;
  /** Seconds for which a consent is remembered. */
  readonly consentLifetime: number;
  /** Iterations of PBKDF2 for new and upgraded password hashes. */
  readonly passwordIterations: number;
  /** The first is the default. */
  readonly signingAlgorithms: readonly JwsAlgorithm[];
  /** Seconds that a key signs. */
  readonly signingKeyLifetime: number;
  /** Seconds between publishing a key and signing with it. */
  readonly signingKeyNotice: number;
  /** Who may register a client (RFC 7591): anyone, a caller whose token has the scope `clients:register`, or no one. */
  readonly registration: "open" | "token" | "off";
  /** Seconds that a client which registered itself is kept without use. */
  readonly registrationLifetime: number;
  /** Whether a client id may be the URL of a client metadata document. Called for each request. */
  readonly clientMetadataDocuments: () => boolean;
  /** Private-use schemes without a dot that redirect URIs may have. */
  readonly redirectSchemes: readonly string[];
  /** The profile whose rules apply beyond those of the RFCs. */
  readonly securityProfile: SecurityProfile | undefined;
  /** RFC 9126 §5: every client must push its requests. */
  readonly requirePushedRequests: boolean;
  /** RFC 9101: whether authorization requests may, or must, be signed JWTs. */
  readonly requestObjects: "off" | "optional" | "required";
  /** Response modes beside `query`: forms that the browser posts, and signed responses (JARM). */
  readonly responseModes: readonly ("form_post" | "jwt")[];
  /** RFC 9449 §8: proofs must hold a nonce of this server. */
  readonly requireDpopNonce: boolean;
  readonly trustedIssuers: readonly TrustedIssuer[];
  readonly authorizationDetailTypes: Readonly<Record<string, AuthorizationDetailType>>;
  readonly certificateProxy: CertificateProxy | undefined;
  /** Authenticates the user of a login form. @default by the users in the store */
  readonly authenticateUser:
    | ((form: ReadonlyMap<string, string>, request: Request) => Promise<AuthenticatedUser | undefined>)
    | undefined;
  /** Identity providers at which users can sign in. */
  readonly signIn: readonly SignInProvider[];
  /** Whether users can also sign in at the identity providers in the store. */
  readonly storedProviders: boolean;
  /** Whether the login page has fields for user name and password. */
  readonly passwordLogin: boolean;
  /** Sends mail; without it there are no pages for forgotten passwords and e-mail verification. */
  readonly sendMail: SendMail | undefined;
  /** Who may create an account. */
  readonly signUp: SignUpSettings;
  /** Further fields of the sign-in form, for `authenticateUser`. */
  readonly loginFields: readonly LoginField[];
  /** The rules for passwords that people choose themselves. */
  readonly passwordPolicy: PasswordPolicy;
  /** Whether users have the account pages. */
  readonly account: boolean;
  /** Fetches from identity providers. @default the platform's fetch */
  readonly signInFetch: Connect | undefined;
  /** The pages of connections to upstreams of the gateway, below `/account/connections`. */
  readonly connections?:
    | ((
      as: AuthorizationServer,
      request: Request,
      context: RequestContext,
    ) => Promise<Response>)
    | undefined;
  /** The authentication context classes that a client may request (RFC 9470 §4). */
  readonly acrValues: readonly string[];
  /** What users can have beside the password. */
  readonly factors: FactorSettings;
  /** OpenID Connect; `undefined` when it is off. */
  readonly openid: OpenIdSettings | undefined;
  /** Name, logo, colours and texts of the pages, and the hook that renders them. */
  readonly pages: PageSettings;
  /** The role of users that have none. */
  readonly defaultRole: UserRole;
  /** How documents and keys at URLs of clients are fetched. @default the connector of the runtime entry */
  readonly connect: Connect | undefined;
  /** Secrets that all instances share. */
  readonly secret: FindSecrets;
  readonly observe: Observe;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface AuthorizationServer extends AuthorizationServerOptions {
  /** The path of the issuer without a trailing slash: the prefix of every route. */
  readonly base: string;
  readonly origin: string;
  /** Whether cookies are sent over https only. */
  readonly secure: boolean;
  /** The description of each scope. */
  readonly descriptions: ReadonlyMap<string, string>;
  /** The scopes that each scope implies, itself included. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** The scopes that a client may have when its registration names none. */
  readonly commonScopes: readonly string[];
  /** The scopes that a client gets when neither its request nor its registration names one. */
  readonly defaultScopes: readonly string[];
  /** The lowest role that a user needs to grant a scope. */
  readonly scopeRoles: ReadonlyMap<string, UserRole>;
  /** The clients of `options.clients`, by id. */
  readonly configured: ReadonlyMap<string, Client>;
  /** By canonical identifier. */
  readonly protectedResources: ReadonlyMap<string, ProtectedResource>;
  readonly documents: RemoteDocuments;
  readonly providers: ProviderDirectory;
  /** Fetches from identity providers, whose addresses the operator configured. */
  readonly providerFetch: PublicFetch;
  readonly providerDocuments: RemoteDocuments;
  readonly keys: SigningKeys;
  readonly throttle: Throttle;
  readonly storageQuota: StorageQuota;
  readonly loginThrottle: LoginThrottle;
  readonly passwords: PasswordHasher;
  readonly passwordMemory: PasswordMemory;
  readonly passwordQueue: PasswordQueue;
  /** Wrong passwords and secrets that no series counts: they only change how a refusal reads. */
  readonly wrongGuesses: RecentCounts;
  /** Counts a request of a page for the user of its session. @throws {RateLimitError} */
  limitUser?(request: Request, user: string): Promise<void> | undefined;
}
