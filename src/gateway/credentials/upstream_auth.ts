/**
 * The option `auth` of an upstream: how requests to it are authorized.
 *
 * @module
 */

/** How requests to an upstream are authorized, beside the fixed `headers` of its configuration. */
export type UpstreamAuth =
  | NoAuth
  | SecretAuth
  | OAuthAuth
  | TokenExchangeAuth
  | IdJagAuth
  | ProviderTokenAuth;

/** No credentials of users: all callers share the fixed header fields. */
export interface NoAuth {
  readonly type: "none";
}

/** A secret that each user enters on the page of connections, such as an API key. */
export interface SecretAuth {
  readonly type: "secret";
  /** The name of the header field. @default "Authorization" */
  readonly header?: string;
  /** The value of the field; `{secret}` in it is replaced. @default "Bearer {secret}" */
  readonly template?: string;
  /** What the user enters and where to find it, for the page. */
  readonly label?: string;
}

/** The client registration of this server at an authorization server. */
export interface UpstreamClient {
  readonly clientId: string;
  readonly clientSecret?: string;
  /** How the secret is sent. @default "client_secret_basic" */
  readonly tokenEndpointAuthMethod?: "client_secret_basic" | "client_secret_post";
}

/** OAuth for each user, at the authorization server that the upstream names (MCP authorization). */
export interface OAuthAuth extends Partial<UpstreamClient> {
  readonly type: "oauth";
  /** Scopes to request. @default those of the upstream's challenge or metadata */
  readonly scopes?: readonly string[];
  /**
   * The issuer of the authorization server. Others that the upstream names are refused. Required with `clientId`, which
   * belongs to one authorization server.
   * @default the first that the upstream names
   */
  readonly issuer?: string;
  /**
   * Whether metadata and tokens may come from private addresses, and over http from loopback, as the upstream says: set it
   * only for a server of your own. @default false
   */
  readonly allowPrivateAddresses?: boolean;
}

/** Exchanges a token of the user for one of the upstream (RFC 8693). */
export interface TokenExchangeAuth extends UpstreamClient {
  readonly type: "token-exchange";
  /** The token endpoint that exchanges. */
  readonly tokenEndpoint: string;
  /**
   * The token that is exchanged: the access token or the ID token of an identity provider from sign-in (its option
   * `keepTokens`).
   */
  readonly subject: { readonly provider: string; readonly token?: "access_token" | "id_token" };
  /** The resource of the upstream (RFC 8707). @default its URL */
  readonly resource?: string;
  readonly audience?: string;
  readonly scopes?: readonly string[];
}

/**
 * Enterprise-managed authorization: an identity assertion of the user (ID-JAG), used at the upstream's authorization server
 * (RFC 7523) as the client `clientId`.
 */
export interface IdJagAuth extends UpstreamClient {
  readonly type: "id-jag";
  /** The authorization server of the upstream. */
  readonly issuer: string;
  /** Whether it may have a private address, or be reached over http on loopback. @default false */
  readonly allowPrivateAddresses?: boolean;
  /**
   * The identity provider that issues the assertion for the ID token of a sign-in there (`keepTokens`), and the client
   * registration of this server there.
   * @default this server identifies its user itself
   */
  readonly provider?: UpstreamClient & { readonly id: string; readonly tokenEndpoint: string };
  /** The resource of the upstream (RFC 8707). @default its URL */
  readonly resource?: string;
  readonly scopes?: readonly string[];
}

/** Sends the access token of an identity provider from sign-in (`keepTokens`), to the named hosts only. */
export interface ProviderTokenAuth {
  readonly type: "provider-token";
  readonly provider: string;
  /** The hosts that may receive it, such as `api.example.com`. The host of the upstream must be one. */
  readonly hosts: readonly string[];
}
