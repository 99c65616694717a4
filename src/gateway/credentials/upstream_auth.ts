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
  /** @default "client_secret_basic" with a secret, otherwise "none" */
  readonly tokenEndpointAuthMethod?: "client_secret_basic" | "client_secret_post" | "none";
}

/** OAuth for each user, at the authorization server that the upstream names (MCP authorization). */
export interface OAuthAuth extends Partial<UpstreamClient> {
  readonly type: "oauth";
  /** Scopes to request. @default those of the upstream's challenge or metadata */
  readonly scopes?: readonly string[];
  /**
   * The issuer of the authorization server. Others that the upstream names are refused.
   * @default the first that the upstream names
   */
  readonly issuer?: string;
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
 * Enterprise-managed authorization: an identity assertion of the user (ID-JAG) from the identity provider or from this
 * server, used at the upstream's authorization server (RFC 7523).
 */
export interface IdJagAuth extends UpstreamClient {
  readonly type: "id-jag";
  /** The authorization server of the upstream. */
  readonly issuer: string;
  /** The identity provider, from sign-in (`keepTokens`), and the client registration of this server there. */
  readonly provider: string;
  readonly providerTokenEndpoint: string;
  readonly providerClient: UpstreamClient;
  /** @default the URL of the upstream */
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
