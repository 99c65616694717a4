/**
 * What the operator registers a client with.
 *
 * @module
 */
import { JWS_ALGORITHMS, type JwsAlgorithm } from "../../crypto/jws.ts";
import { checkNames, invalidOption, type Names } from "../../options/option_check.ts";
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
  id: "string",
  secret: "string",
  name: "string",
  domain: "string",
  redirect_uris: "string[]",
  grant_types: "string[]",
  scope: "string",
  token_endpoint_auth_method: "unknown",
  token_endpoint_auth_signing_alg: "unknown",
  jwks: "object",
  jwks_uri: "string",
  certificate: "object",
  access_token_format: "unknown",
  require_pushed_authorization_requests: "boolean",
  dpop_bound_access_tokens: "boolean",
  tls_client_certificate_bound_access_tokens: "boolean",
  authorization_details_types: "string[]",
  introspection_signed_response_alg: "unknown",
  request_object_signing_alg: "unknown",
  require_signed_request_object: "boolean",
  request_uris: "string[]",
  authorization_signed_response_alg: "unknown",
  trusted: "boolean",
  introspects: "string[]",
  token_exchange_resources: "string[]",
  subject_type: "unknown",
  sector_identifier_uri: "string",
  id_token_signed_response_alg: "unknown",
  userinfo_signed_response_alg: "unknown",
  default_max_age: "number",
  require_auth_time: "boolean",
  default_acr_values: "string[]",
  initiate_login_uri: "string",
  post_logout_redirect_uris: "string[]",
  backchannel_logout_uri: "string",
  backchannel_logout_session_required: "boolean",
};

const { id: _, secret: __, ...CHANGE_NAMES } = NAMES;

/** The values of members that have few, beside those of algorithms: with any other the default would hold. */
const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  access_token_format: ["opaque", "jwt"],
  subject_type: ["public", "pairwise"],
};

function checkMembers(client: object, names: object): void {
  checkNames("client", client, names);
  for (const [name, value] of Object.entries(client)) {
    const choices: readonly unknown[] | undefined = name.endsWith("_alg") ? JWS_ALGORITHMS : CHOICES[name];
    if (choices && value !== undefined && !choices.includes(value)) {
      throw invalidOption(`client.${name}`, choices.join(" or "), value);
    }
  }
}

/** @throws {TypeError} naming an invalid member, or one that does not exist or cannot be changed: the id and the secret */
export function checkChangedMembers(changes: object): void {
  // Null removes a member of any type.
  const kept = Object.entries(changes).map(([name, value]) => [name, value ?? undefined]);
  checkMembers(Object.fromEntries(kept), CHANGE_NAMES);
}

/** @throws {TypeError} naming an invalid member, or one that does not exist */
export function checkRegistrationMembers(registration: object): void {
  checkMembers(registration, NAMES);
}
