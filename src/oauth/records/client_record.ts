/**
 * What is stored of an OAuth client.
 *
 * @module
 */
import type { PublicJwk } from "../../crypto/jwk.ts";
import type { JwsAlgorithm } from "../../crypto/jws.ts";
import type { Key } from "../../store/store.ts";

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
 * An OAuth client. Written by `client.ts` or `register.ts`; ended by its removal, one that registered itself and is not
 * used by its lifetime. Member names follow RFC 7591 §2 where it has one.
 */
export interface Client extends OpenIdClient {
  readonly id: string;
  readonly name: string;
  /** Where it comes from: the operator, dynamic registration, or a client metadata document. */
  readonly source: "operator" | "registration" | "document";
  readonly token_endpoint_auth_method: ClientAuthMethod;
  /** RFC 7591: the only algorithm of its assertions. */
  readonly token_endpoint_auth_signing_alg?: JwsAlgorithm;
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
  /** The members that the operator changed: the client cannot change them. Only of a client that registered itself. */
  readonly set_by_operator?: readonly string[];
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

export const clientKey = (id: string): Key => ["client", id];
/** Of a client whose id is an address, and which a user allowed something. */
export const clientDocumentKey = (digest: string): Key => ["client_document", digest];
