/**
 * What the authorization server stores: for each kind its key, who writes it, and what ends it.
 * Secrets appear only as digests (`crypto/secret.ts`). Times are milliseconds since the epoch. Long because it is one list.
 *
 * @module
 */
import type { PrivateJwk, PublicJwk } from "../crypto/jwk.ts";
import type { JwsAlgorithm } from "../crypto/jws.ts";
import type { Key } from "../store/store.ts";

/** How a client proves who it is: the names of RFC 7591 §2 and RFC 8705 §2. */
export type ClientAuthMethod =
  | "none"
  | "client_secret_basic"
  | "client_secret_post"
  | "private_key_jwt"
  | "tls_client_auth"
  | "self_signed_tls_client_auth";

/** The values of `grant_type`. */
export type GrantType =
  | "authorization_code"
  | "refresh_token"
  | "client_credentials"
  | "urn:ietf:params:oauth:grant-type:device_code"
  | "urn:ietf:params:oauth:grant-type:token-exchange"
  | "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** All supported grants. RFC 9700 §2.4 and §2.1.2 forbid the password and the implicit grant. */
export const GRANT_TYPES: readonly GrantType[] = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  "urn:ietf:params:oauth:grant-type:device_code",
  "urn:ietf:params:oauth:grant-type:token-exchange",
  "urn:ietf:params:oauth:grant-type:jwt-bearer",
];
/**
 * Written by `client.ts` or `register.ts`; ended by its removal, one that registered itself and is not used by its
 * lifetime. Member names follow RFC 7591 §2 where it has one.
 */
export interface Client extends OpenIdClient {
  readonly id: string;
  readonly name: string;
  /** Where it comes from: the operator, dynamic registration, or a client metadata document. */
  readonly source: "operator" | "registration" | "document";
  readonly token_endpoint_auth_method: ClientAuthMethod;
  readonly secret_digest?: string;
  /** The former secret, valid until this time. */
  readonly previous_secret?: { readonly digest: string; readonly until: number };
  /** The operator chose a secret that is short enough to be guessed. */
  readonly weak_secret?: true;
  /** Public keys, here or at an https URL: for assertions and certificates. */
  readonly jwks?: { readonly keys: readonly PublicJwk[] };
  readonly jwks_uri?: string;
  /** The subject name that its certificate must have (RFC 8705 §2.1.2). */
  readonly certificate?: { readonly type: CertificateNameType; readonly value: string };
  /** Exact redirect URIs; a loopback one matches on any port (RFC 8252 §7.3). */
  readonly redirect_uris?: readonly string[];
  /** Shorthand for any https redirect URI on exactly this host; an origin pins the scheme too. */
  readonly domain?: string;
  readonly grant_types: readonly GrantType[];
  /** Space-separated; absent means every scope of the operator but `admin` and what implies it. */
  readonly scope?: string;
  /**
   * The scope of a request without one. For a client that registered itself this is its `scope`, and not a limit: MCP
   * clients register with the scopes that they need first, and request more when a tool needs them.
   */
  readonly default_scope?: string;
  /** The setting of the resource takes precedence. */
  readonly access_token_format?: "opaque" | "jwt";
  /** RFC 9126 §6: it must push its authorization requests. */
  readonly require_pushed_authorization_requests?: boolean;
  /** RFC 9449 §5.2: it gets no token without a DPoP proof. */
  readonly dpop_bound_access_tokens?: boolean;
  /** RFC 8705 §3.4: its tokens are bound to its certificate. */
  readonly tls_client_certificate_bound_access_tokens?: boolean;
  /** RFC 9396 §10: the types that it may request; absent means all. */
  readonly authorization_details_types?: readonly string[];
  /** RFC 9701 §6 */
  readonly introspection_signed_response_alg?: JwsAlgorithm;
  /** RFC 9101: the only algorithm of its request objects, whether it must send them, and the URLs that may name them. */
  readonly request_object_signing_alg?: JwsAlgorithm;
  readonly require_signed_request_object?: boolean;
  readonly request_uris?: readonly string[];
  /** JARM §3 */
  readonly authorization_signed_response_alg?: JwsAlgorithm;
  /** The operator trusts it: a remembered consent is used even for a public client. */
  readonly trusted?: boolean;
  /** The resources that this client serves: it may introspect their tokens. Absent means all. */
  readonly introspects?: readonly string[];
  /** The resources that it may exchange tokens for (RFC 8693), beside those of the token that it sends. */
  readonly token_exchange_resources?: readonly string[];
  /** Other client metadata, returned unchanged: RFC 7591 §2. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** RFC 7592 §3 */
  readonly registration_access_token_digest?: string;
  readonly created: number;
}

/** Client metadata of OpenID Connect Registration §2, RP-Initiated Logout §3.1 and Back-Channel Logout §2.2. */
export interface OpenIdClient {
  /** @default the first of `openid.subjectTypes` */
  readonly subject_type?: "public" | "pairwise" | undefined;
  readonly sector_identifier_uri?: string | undefined;
  /** @default "RS256" */
  readonly id_token_signed_response_alg?: JwsAlgorithm | undefined;
  /** @default none: JSON without a signature */
  readonly userinfo_signed_response_alg?: JwsAlgorithm | undefined;
  /** Seconds since the login that an authorization request without `max_age` allows. @default any */
  readonly default_max_age?: number | undefined;
  /** Every ID token has `auth_time`. */
  readonly require_auth_time?: boolean | undefined;
  readonly default_acr_values?: readonly string[] | undefined;
  readonly initiate_login_uri?: string | undefined;
  /** Where a user may go after `/oauth/logout`: compared as text. */
  readonly post_logout_redirect_uris?: readonly string[] | undefined;
  /** Gets a logout token when a session ends in which the client got a code. */
  readonly backchannel_logout_uri?: string | undefined;
  /** Every logout token has `sid`. */
  readonly backchannel_logout_session_required?: boolean | undefined;
}

export type CertificateNameType = "subject_dn" | "san_dns" | "san_uri" | "san_ip" | "san_email";

/** What a user may let applications do (`user_role.ts`). */
export type UserRole = "reader" | "author" | "admin";

/** Written by `user.ts`; ended by its removal. */
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
  /**
   * The scopes that the identity provider's groups decide on, instead of the role: whether the user may grant each. As at
   * the last sign-in there.
   */
  readonly scopes?: Readonly<Record<string, boolean>>;
  /** As in {@linkcode User}. */
  readonly locked?: number;
  /** When something of this was changed, in milliseconds since the epoch. Written by `saveProfile`. */
  readonly updated?: number;
}

/** The link with which a user sets a new password. Written by `mail/password_reset.ts`; ended by its use, a login, or its lifetime. */
export interface PasswordReset {
  readonly digest: string;
  /** A digest of the password hash: another password ends the link. */
  readonly password: string;
}

/** The link that proves an address. Written by `mail/email_verification.ts`; ended by its use or its lifetime. */
export interface EmailVerification {
  readonly digest: string;
  readonly email: string;
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

/** Written at login, under a new id; ended by logout or its lifetimes. */
export interface Session {
  /** Its public name, which is shown to the user; absent in sessions of earlier versions. */
  readonly id?: string;
  readonly user: string;
  readonly created: number;
  /** When it was last used, to within a tenth of its idle lifetime. */
  readonly seen: number;
  /** How the user proved who they are: RFC 9470 §3. */
  readonly acr: string;
  /** RFC 8176: the authentication methods, where `authenticateUser` names them. */
  readonly amr?: readonly string[];
  /** Weaker classes that the login is good enough for. */
  readonly satisfies?: readonly string[];
  /** When the user did so, if that was at an identity provider: 0 if the provider does not say. @default `created` */
  readonly authenticated?: number;
  /** The IP address of the login. */
  readonly address?: string;
  /** The beginning of its `User-Agent`. */
  readonly agent?: string;
}

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

/** Whose account an identity at a provider is. Written at the first sign-in; ended by unlinking it or with the user. */
export interface LinkedAccount {
  readonly user: string;
  /** The id of the provider at the first sign-in. */
  readonly provider: string;
  readonly linked: number;
  /** The user linked it to an account that existed: name and address of the account are not the provider's. */
  readonly added?: true;
  /** The role of the invitation, for as long as the provider gives none. */
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

/** The same by user, for the account pages. Written with the linked account, and for earlier ones at the next sign-in. */
export interface UserIdentity {
  /** The id of the provider at the last sign-in. */
  readonly provider: string;
  readonly linked: number;
  /** How the user knows the account there: its e-mail address or name. */
  readonly label: string;
}

/** How the authorization response is sent, where it is not in the query: `response_modes/response_mode.ts`. */
export type ResponseMode = "form_post" | "query.jwt" | "fragment.jwt" | "form_post.jwt";

/** A client that is notified when the session ends. Written with its code; ended by the end of the session. */
export interface SessionClient {
  readonly client_id: string;
  readonly user: string;
}

/** A logout token that a client is to get. Written at the end of a session; ended by its delivery or a day later. */
export interface LogoutNotice extends SessionClient {
  /** The digest of the secret of the session. */
  readonly session: string;
  /** Deliveries that failed. */
  readonly failures: number;
  /** Until when it is kept. */
  readonly until: number;
}

/** What an authorization request asks for, checked. What it and the grant have in common is named alike in both. */
export interface AuthorizationRequest extends Authorization {
  readonly redirect_uri: string;
  /** Whether the client sent `redirect_uri`, and must send it again (RFC 6749 §4.1.3). */
  readonly redirect_uri_sent: boolean;
  readonly state?: string;
  /** Absent for `query`. */
  readonly response_mode?: ResponseMode;
  /** The algorithm of a signed response (JARM). */
  readonly response_alg?: JwsAlgorithm;
  readonly code_challenge?: string;
  /** RFC 9449 §10: the only key that may redeem the code. */
  readonly dpop_jkt?: string;
  /** Present for a request with the scope `openid`. */
  readonly openid?: OpenIdRequest;
}

/** What lasts of an OpenID Connect authentication: its grant gets ID tokens. */
export interface GrantedOpenId {
  readonly claims?: ClaimsRequest;
  /** The login session, named for this client. */
  readonly sid?: string;
}

/** OpenID Connect Core §3.1.2.1 */
export interface OpenIdRequest extends GrantedOpenId {
  readonly nonce?: string;
}

/** The parameter `claims` (OpenID Connect Core §5.5), as far as this server knows the claims. */
export interface ClaimsRequest {
  readonly userinfo?: ClaimRequests;
  readonly id_token?: ClaimRequests;
}
export type ClaimRequests = Readonly<Record<string, ClaimRequest>>;
export interface ClaimRequest {
  readonly essential?: boolean;
  /** `value` and `values` of the request. */
  readonly values?: readonly string[];
}

/** What a user allows a client. */
export interface Authorization {
  readonly client_id: string;
  /** When a client of the store was registered, in milliseconds: an id that is registered again is another client's. */
  readonly client_since?: number;
  readonly scope: string;
  /** RFC 8707: the resources of its tokens; absent means this server. */
  readonly resource?: readonly string[];
  /** RFC 9396 */
  readonly authorization_details?: readonly AuthorizationDetail[];
}

/** RFC 9396 §2: an object whose `type` defines its other members. */
export interface AuthorizationDetail {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** When and how the user signed in: RFC 9470 §6. */
export interface Authentication {
  /** Seconds since the epoch. */
  readonly auth_time: number;
  readonly acr: string;
  readonly amr?: readonly string[];
}

/** Parameters that a client pushed (RFC 9126), or that wait for a login. Written by `par.ts`; ended by the user's answer. */
export interface PushedRequest {
  readonly client_id: string;
  /** As a query. */
  readonly parameters: string;
  /** RFC 9449 §10.1 */
  readonly dpop_jkt?: string;
  /** Milliseconds since the epoch: the user must have signed in at this time or later. */
  readonly min_auth_time?: number;
  /** The digest of the name that the client was given for it, when it waits for a login under another one. */
  readonly pushed?: string;
  /** The parameters are those of a request object that the client signed (RFC 9101). */
  readonly signed?: true;
}

/** A request that waits for the user's decision. Written by `consent/transaction.ts`; ended by the decision. */
export type Transaction = TransactionByKind[keyof TransactionByKind];

export interface TransactionByKind {
  readonly authorization: AuthorizationTransaction;
  readonly device: DeviceTransaction;
}

interface SessionTransaction {
  /** The digest of the session to which the page was shown. */
  readonly session: string;
  readonly user: string;
  readonly authentication: Authentication;
}

export interface AuthorizationTransaction extends SessionTransaction {
  readonly kind: "authorization";
  readonly request: AuthorizationRequest;
  /** The digest of the pushed request, which ends with the transaction. */
  readonly pushed?: string;
}

export interface DeviceTransaction extends SessionTransaction {
  readonly kind: "device";
  /** The digest of the device code. */
  readonly device: string;
}

/** Written at consent. A consumed one is kept for a while, so that a replay is recognized and ends its grant. */
export interface Code {
  readonly client_id: string;
  readonly client_since?: number;
  readonly user: string;
  readonly grant: string;
  /** Of a consumed code, so that a replay without the verifier revokes nothing. */
  readonly code_challenge?: string;
  /** What it can be redeemed for, and until when; absent once the code is consumed. */
  readonly unspent?: Pick<AuthorizationTransaction, "request" | "authentication"> & {
    readonly until: number;
  };
}

/** Written by `device_authorization.ts`, answered by `device_consent.ts`; a spent one stays a while, as a code does. */
export type DeviceCode =
  | DeviceRequest & { readonly status: "pending" }
  | DeviceRequest & { readonly status: "denied" }
  | ApprovedDeviceRequest & { readonly status: "approved" }
  | ApprovedDeviceRequest & { readonly status: "spent" };

interface DeviceRequest extends Authorization {
  readonly user_code: string;
  /** Seconds that the client must wait between two questions: RFC 8628 §3.5. */
  readonly interval: number;
  readonly asked: number;
  readonly until: number;
  readonly grant: string;
}

export interface ApprovedDeviceRequest extends DeviceRequest {
  readonly user: string;
  readonly authentication: Authentication;
  readonly openid?: GrantedOpenId;
}

/** The key that a token is bound to (RFC 7800): a DPoP key or a certificate, by its SHA-256 thumbprint. */
export interface Confirmation {
  readonly jkt?: string;
  readonly "x5t#S256"?: string;
}

/**
 * What a user allowed a client: the root of a family of tokens. Removing it ends all of them at once, because a token is
 * valid only while its grant exists.
 */
export interface Grant extends Authorization {
  readonly user: string;
  readonly created: number;
  readonly authentication?: Authentication;
  readonly openid?: GrantedOpenId;
  /** RFC 9449 §5, RFC 8705 §4: refresh tokens of a public client are good with this key or certificate only. */
  readonly cnf?: Confirmation;
  /** The client was confidential, and must authenticate even when its metadata later says that it is public. */
  readonly confidential?: true;
  /** When it was last written with new tokens; absent in grants of earlier versions. */
  readonly used?: number;
  /** Until when its index record lives (`user_grants.ts`). */
  readonly listed?: number;
  /** No refresh extends the grant beyond this time. */
  readonly until: number;
  /** The current refresh token; absent when the client may not refresh. */
  readonly refresh?: { readonly digest: string; readonly expires: number };
  readonly previous?: Rotation;
  readonly revoked?: Revocations;
}

/** Revoked signed access tokens: each by `jti` and time of issue, and all that were issued up to `before`. */
export interface Revocations {
  readonly before: number;
  readonly tokens: readonly (readonly [jti: string, issued: number])[];
}

/**
 * The previous refresh token, and the response that a retry gets until `until`. The tokens are derived from it and the
 * salt, except a signed access token, which is sealed under it.
 */
export interface Rotation {
  readonly digest: string;
  readonly salt: string;
  readonly until: number;
  readonly answer: {
    readonly token_type: "Bearer" | "DPoP";
    readonly expires_in: number;
    readonly scope: string;
    readonly authorization_details?: readonly AuthorizationDetail[];
  };
  readonly sealed?: string;
}

/** The contents of an access token. Opaque ones are stored; ended by their lifetime or with their grant. */
export interface AccessToken extends Authorization {
  readonly user?: string;
  readonly grant?: string;
  readonly issued: number;
  readonly expires: number;
  readonly cnf?: Confirmation;
  readonly authentication?: Authentication;
  /** RFC 8693 §4.1: who acts for the subject. */
  readonly act?: Actor;
}

/** A record that is being built: on hot paths setting members one by one takes a third of the time of spreading. */
export type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

export type Actor = { readonly sub: string; readonly act?: Actor };

/** What a user allowed a client before at one resource, so that only what is new is asked. Written at consent; ended by its lifetime. */
export interface Consent {
  readonly scope: string;
  /** Of what the client said of itself then: another redirect URI or key is another client. */
  readonly fingerprint: string;
  readonly given: number;
}

/** A private signing key. Written at first use, and a while before the one before it retires. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: JwsAlgorithm;
  readonly jwk: PrivateJwk;
  readonly generation: number;
  readonly created: number;
  /** When it begins to sign. */
  readonly starts: number;
}

/** A series of attempts that failed, and when the next one may be made. */
export interface Attempts {
  readonly made: number;
  readonly until: number;
}

/** How many attempts were made, and until when the next one waits, or when the last one was, in milliseconds. */
export type Attempt = readonly [made: number, until: number];

/** Attempts to sign in from one network. Written by `login_throttle.ts`; ended a day after the last wait. */
export interface LoginAttempts {
  readonly all: Attempt;
  /** By a digest of the account. */
  readonly accounts: Readonly<Record<string, Attempt>>;
}

export const clientKey = (id: string): Key => ["client", id];
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
export const sessionKey = (digest: string): Key => ["session", digest];
/** The sessions of a user: each record says that one with this digest was started (`user_sessions.ts`). */
export const userSessionsPrefix = (user: string): Key => ["user_session", user];
export const userSessionKey = (user: string, digest: string): Key => [...userSessionsPrefix(user), digest];
/** When all sessions of a user were ended, in milliseconds: no login that began before starts another. */
export const signedOutKey = (user: string): Key => ["signed_out", user];
/** A session that was ended by no request of its own, and whose clients are to be notified. */
export const ENDED_SESSIONS: Key = ["ended_session"];
export const endedSessionKey = (digest: string): Key => [...ENDED_SESSIONS, digest];
export const sessionClientsPrefix = (session: string): Key => ["session_client", session];
export const sessionClientKey = (session: string, client: string): Key => [
  ...sessionClientsPrefix(session),
  client,
];
export const LOGOUT_NOTICES: Key = ["logout_notice"];
/** By the time at which it is due, so that the due ones come first. */
export const logoutNoticeKey = (due: number, id: string): Key => [...LOGOUT_NOTICES, due, id];
export const pushedRequestKey = (digest: string): Key => ["pushed_request", digest];
export const transactionKey = (digest: string): Key => ["transaction", digest];
export const consentsPrefix = (user: string, client: string): Key => ["consent", user, client];
/** Of one resource: a scope that was allowed at one is not allowed at another. */
export const consentKey = (user: string, client: string, resource: string): Key => [
  ...consentsPrefix(user, client),
  resource,
];
export const codeKey = (digest: string): Key => ["code", digest];
export const deviceCodeKey = (digest: string): Key => ["device_code", digest];
/** Leads from what the user types to the device's code. */
export const userCodeKey = (digest: string): Key => ["user_code", digest];
export const grantKey = (id: string): Key => ["grant", id];
/** The grants of a user (`user_grants.ts`). */
export const userGrantsPrefix = (user: string): Key => ["user_grant", user];
export const userGrantKey = (user: string, id: string): Key => [...userGrantsPrefix(user), id];
export const accessTokenKey = (digest: string): Key => ["access_token", digest];
/** Of signed access tokens that a client got for itself. */
export const revocationsKey = (client: string): Key => ["revocations", client];
/** Of an assertion or a proof that may come once; the record lives as long as it would be taken. */
export const usedKey = (kind: "assertion" | "dpop", digest: string): Key => ["used", kind, digest];
export const signingKeyKey = (alg: JwsAlgorithm, generation: number): Key => ["signing_key", alg, generation];
export const loginAttemptsKey = (digest: string): Key => ["attempts", "login", digest];
export const attemptsKey = (kind: string, digest: string): Key => ["attempts", kind, digest];
/** Of a client whose id is an address, and which a user allowed something. */
export const clientDocumentKey = (digest: string): Key => ["client_document", digest];
