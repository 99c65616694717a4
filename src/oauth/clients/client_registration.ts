/**
 * What the operator registers a client with.
 *
 * @module
 */
import type { JwsAlgorithm } from "../../crypto/jws.ts";
import { checkNames, type Names } from "../../options/option_check.ts";
import type {
  CertificateNameType,
  ClientAuthMethod,
  GrantType,
  OpenIdClient,
} from "../records/client_record.ts";

/** The registration of a client by the operator. Without secret, keys or certificate it is a public client. */
export interface ClientRegistration extends OpenIdClient {
  readonly id: string;
  readonly secret?: string | undefined;
  /** Shown to the user at consent. @default the id */
  readonly name?: string | undefined;
  /** Any https redirect URI on exactly this host. */
  readonly domain?: string | undefined;
  /** Exact redirect URIs. */
  readonly redirect_uris?: readonly string[] | undefined;
  /** @default the code and refresh grants with a redirect URI, and `client_credentials` for a confidential client */
  readonly grant_types?: readonly GrantType[] | undefined;
  /** Space-separated. @default every scope of the operator but `admin` */
  readonly scope?: string | undefined;
  /** @default by its credentials: a secret, keys (`private_key_jwt`), a certificate, or `none` */
  readonly token_endpoint_auth_method?: ClientAuthMethod | undefined;
  /** The only algorithm of its assertions (`private_key_jwt`). @default any that is supported */
  readonly token_endpoint_auth_signing_alg?: JwsAlgorithm | undefined;
  readonly jwks?: { readonly keys: readonly unknown[] } | undefined;
  readonly jwks_uri?: string | undefined;
  readonly certificate?: { readonly type: CertificateNameType; readonly value: string } | undefined;
  readonly access_token_format?: "opaque" | "jwt" | undefined;
  readonly require_pushed_authorization_requests?: boolean | undefined;
  readonly dpop_bound_access_tokens?: boolean | undefined;
  readonly tls_client_certificate_bound_access_tokens?: boolean | undefined;
  readonly authorization_details_types?: readonly string[] | undefined;
  readonly introspection_signed_response_alg?: JwsAlgorithm | undefined;
  /** RFC 9101: the only algorithm of its request objects. @default any that is supported */
  readonly request_object_signing_alg?: JwsAlgorithm | undefined;
  /** RFC 9101 §10.5: it must send signed request objects. @default false */
  readonly require_signed_request_object?: boolean | undefined;
  /** The https URLs that it may name as `request_uri` (RFC 9101 §5.2). @default none */
  readonly request_uris?: readonly string[] | undefined;
  /** The algorithm of signed responses (JARM). @default RS256 where `signingAlgorithms` has it, else the first */
  readonly authorization_signed_response_alg?: JwsAlgorithm | undefined;
  /**
   * You trust this client: a remembered consent is used also when it is a public client with an https redirect URI, or
   * when another site sent the browser. @default false
   */
  readonly trusted?: boolean | undefined;
  /** The resources whose tokens it may introspect. @default all */
  readonly introspects?: readonly string[] | undefined;
  /** The resources that it may exchange tokens for (RFC 8693), beside those of the token that it sends. @default none */
  readonly token_exchange_resources?: readonly string[] | undefined;
}

// Other names are refused: a client with `scopes` for `scope` could get every scope.
const NAMES: Names<ClientRegistration> = {
  id: 4,
  secret: 4,
  name: 4,
  domain: 4,
  redirect_uris: 2,
  grant_types: 2,
  scope: 4,
  token_endpoint_auth_method: 1,
  token_endpoint_auth_signing_alg: 1,
  jwks: 1,
  jwks_uri: 4,
  certificate: 1,
  access_token_format: 1,
  require_pushed_authorization_requests: 3,
  dpop_bound_access_tokens: 3,
  tls_client_certificate_bound_access_tokens: 3,
  authorization_details_types: 2,
  introspection_signed_response_alg: 1,
  request_object_signing_alg: 1,
  require_signed_request_object: 3,
  request_uris: 2,
  authorization_signed_response_alg: 1,
  trusted: 3,
  introspects: 2,
  token_exchange_resources: 2,
  subject_type: 1,
  sector_identifier_uri: 4,
  id_token_signed_response_alg: 1,
  userinfo_signed_response_alg: 1,
  default_max_age: 1,
  require_auth_time: 3,
  default_acr_values: 2,
  initiate_login_uri: 4,
  post_logout_redirect_uris: 2,
  backchannel_logout_uri: 4,
  backchannel_logout_session_required: 3,
};

const { id: _, secret: __, ...CHANGE_NAMES } = NAMES;

/** @throws {TypeError} naming a member that does not exist, or cannot be changed: the id and the secret */
export function checkChangeNames(changes: object): void {
  // Null removes a member of any type.
  const kept = Object.entries(changes).map(([name, value]) => [name, value ?? undefined]);
  checkNames("client", Object.fromEntries(kept), CHANGE_NAMES);
}

/** @throws {TypeError} naming a member that does not exist */
export function checkRegistrationNames(registration: object): void {
  checkNames("client", registration, NAMES);
}
