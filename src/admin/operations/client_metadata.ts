/**
 * The metadata of clients in operations: the names of RFC 7591, and members of Trivet.
 *
 * @module
 */
import { JWS_ALGORITHMS } from "../../crypto/jws.ts";
import { withoutSecrets } from "../../oauth/clients/client_changes.ts";
import { type Client, GRANT_TYPES } from "../../oauth/records/client_record.ts";
import { isPublic } from "../../oauth/clients/client.ts";
import { type Schema, toIso } from "../operation.ts";
import { count, flag, object, oneOf, orNull, text, texts, time } from "../schema.ts";

const algorithm = (description: string): Schema => oneOf(JWS_ALGORITHMS, description);
const url = (description: string): Schema => text(description, { max: 2048 });

/** Members of a registration that can be changed. */
export const CLIENT_METADATA: Readonly<Record<string, Schema>> = {
  name: text("the name that users see at consent", { min: 1, max: 256 }),
  domain: text("accepts any https redirect URI on exactly this host", { max: 256 }),
  redirect_uris: texts("exact redirect URIs"),
  grant_types: {
    type: "array",
    items: { enum: GRANT_TYPES },
    maxItems: 20,
    description: "the grants that it can use",
  },
  scope: text("space-separated scopes that it can have; all but admin when left out", { max: 4096 }),
  token_endpoint_auth_method: oneOf([
    "none",
    "client_secret_basic",
    "client_secret_post",
    "private_key_jwt",
    "tls_client_auth",
    "self_signed_tls_client_auth",
  ], "how it authenticates; by its credentials when left out"),
  jwks: {
    type: "object",
    properties: { keys: { type: "array", items: { type: "object" }, maxItems: 50 } },
    required: ["keys"],
    additionalProperties: false,
    description: "its public keys",
  },
  jwks_uri: url("the https URL of its public keys"),
  certificate: {
    ...object({
      type: oneOf(["subject_dn", "san_dns", "san_uri", "san_ip", "san_email"], "which name"),
      value: text("the name", { min: 1 }),
    }),
    description: "the name in its TLS certificate (RFC 8705)",
  },
  access_token_format: oneOf(["opaque", "jwt"], "the format of its access tokens"),
  require_pushed_authorization_requests: flag("RFC 9126"),
  dpop_bound_access_tokens: flag("tokens only with a DPoP proof (RFC 9449)"),
  tls_client_certificate_bound_access_tokens: flag("tokens are bound to its certificate (RFC 8705)"),
  authorization_details_types: texts("the types of authorization_details that it can request (RFC 9396)"),
  introspection_signed_response_alg: algorithm("signs introspection responses (RFC 9701)"),
  token_endpoint_auth_signing_alg: algorithm("the only algorithm of its assertions (private_key_jwt)"),
  request_object_signing_alg: algorithm("the only algorithm of its request objects (RFC 9101)"),
  require_signed_request_object: flag("requires signed request objects (RFC 9101)"),
  request_uris: texts("the URLs that it can name as request_uri (RFC 9101)"),
  authorization_signed_response_alg: algorithm("signs authorization responses (JARM)"),
  trusted: flag("a consent that the user gave is used even for a public client"),
  introspects: texts("the resources whose tokens it can introspect; all when left out"),
  token_exchange_resources: texts("the resources that it can exchange tokens for (RFC 8693)"),
  subject_type: oneOf(["public", "pairwise"], "OpenID Connect"),
  sector_identifier_uri: url("OpenID Connect"),
  id_token_signed_response_alg: algorithm("OpenID Connect: the algorithm of ID tokens"),
  userinfo_signed_response_alg: algorithm("OpenID Connect: signs UserInfo responses"),
  default_max_age: count("OpenID Connect: seconds since the login that are accepted", { max: 999_999_999 }),
  require_auth_time: flag("OpenID Connect: auth_time in every ID token"),
  default_acr_values: texts("OpenID Connect: authentication context classes to ask for"),
  initiate_login_uri: url("OpenID Connect: where others can start a login at it"),
  post_logout_redirect_uris: texts("where users can go after sign-out"),
  backchannel_logout_uri: url("gets a logout token when a session ends"),
  backchannel_logout_session_required: flag("every logout token names the session"),
};

/** A client in an answer: {@linkcode CLIENT_METADATA} that is set, and what the server knows. */
export interface AdminClient {
  readonly id: string;
  readonly name: string;
  readonly source: Client["source"];
  readonly public: boolean;
  readonly has_secret: boolean;
  readonly weak_secret: boolean;
  readonly old_secret_until: string | null;
  readonly created: string;
  readonly [member: string]: unknown;
}

const KNOWN: Readonly<Record<string, Schema>> = {
  id: text("the client id", { max: 2048 }),
  source: oneOf(["operator", "registration", "document"], "where it comes from"),
  public: flag("whether it has no credentials"),
  has_secret: flag("whether it has a secret"),
  weak_secret: flag("whether its secret is short enough to be guessed"),
  old_secret_until: orNull(time("until when its former secret is valid")),
  default_scope: text("the scope of a request without one", { max: 4096 }),
  metadata: { type: "object", description: "other metadata that it registered with" },
  created: time("when it was added"),
};

/** The members of {@linkcode AdminClient}. Those that a registration left out are absent. */
export const CLIENT_PROPERTIES: Readonly<Record<string, Schema>> = { ...KNOWN, ...CLIENT_METADATA };
/** Those that can be absent. */
export const OPTIONAL_CLIENT_PROPERTIES: readonly string[] = [
  ...Object.keys(CLIENT_METADATA).filter((name) => name !== "name"),
  "default_scope",
  "metadata",
];
/** The schema of {@linkcode AdminClient}. */
export const CLIENT_OBJECT: Schema = object(CLIENT_PROPERTIES, OPTIONAL_CLIENT_PROPERTIES);

/** The client without its secrets. @param now milliseconds since the epoch */
export function toAdminClient(client: Client, now: number): AdminClient {
  const { created, weak_secret = false, set_by_operator: _, ...shown } = withoutSecrets(client);
  const { previous_secret: previous } = client;
  return {
    ...shown,
    public: isPublic(client),
    has_secret: client.secret_digest !== undefined,
    weak_secret,
    old_secret_until: previous && previous.until > now ? toIso(previous.until) : null,
    created: toIso(created),
  };
}
