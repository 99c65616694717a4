/**
 * The metadata of a client as options of `trivet client`: each is declared with the member of the registration that it sets.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { JWS_ALGORITHMS } from "../../../crypto/jws.ts";
import type { ClientChanges } from "../../../oauth/clients/client_changes.ts";
import type { ClientRegistration } from "../../../oauth/clients/client_registration.ts";
import { GRANT_TYPES } from "../../../oauth/records/client_record.ts";
import { OPENID_SCOPES } from "../../../oauth/openid/options.ts";
import { SCOPES } from "../../../options/oauth_options.ts";
import type { Option, Options } from "../options.ts";
import { suggest } from "../nearest.ts";
import { printError, UsageError } from "../output.ts";
import { describeFileError } from "../file_error.ts";
import { EXPECTED_RESOURCE, parseResource } from "../issuer_option.ts";

type Member = Exclude<keyof ClientRegistration, "id" | "secret">;

/** Names of grant types without their URN prefix. */
const GRANT_NAMES = GRANT_TYPES.map((type) => type.split(":").at(-1)).join(", ");
const CERTIFICATE_NAMES = ["subject_dn", "san_dns", "san_uri", "san_ip", "san_email"] as const;
const ALGORITHM = { value: "ALG", words: JWS_ALGORITHMS } as const;

/** What sets each member. Its name is that of the option. */
const METADATA: Readonly<Record<string, readonly [Member, Option]>> = {
  name: ["name", {
    value: "NAME",
    summary: "the name that users see at consent",
    shownDefault: "the id",
  }],
  domain: ["domain", { value: "HOST", summary: "accept any https redirect URI on exactly this host" }],
  "redirect-uri": ["redirect_uris", { value: "URI", isRepeatable: true, summary: "an exact redirect URI" }],
  "grant-type": ["grant_types", {
    value: "TYPE",
    isRepeatable: true,
    summary: `a grant type: ${GRANT_NAMES}`,
    parse: (text: string) =>
      GRANT_TYPES.find((type) => type === text || type.endsWith(`:grant-type:${text}`)),
    expected: `one of ${GRANT_NAMES}`,
  }],
  scope: ["scope", {
    value: '"A B"',
    isRepeatable: true,
    summary: "scopes that the client can have",
    canBeEmpty: true,
    shownDefault: "all but admin",
  }],
  "auth-method": ["token_endpoint_auth_method", {
    value: "METHOD",
    words: [
      "none",
      "client_secret_basic",
      "client_secret_post",
      "private_key_jwt",
      "tls_client_auth",
      "self_signed_tls_client_auth",
    ],
    summary: "how the client authenticates",
    shownDefault: "by what it has",
  }],
  jwks: ["jwks", {
    value: "FILE",
    summary: "file with the client's public keys (a JWK Set), for private_key_jwt instead of a secret",
    parse: readKeySet,
  }],
  "jwks-uri": ["jwks_uri", { value: "URL", summary: "URL of the client's public keys, instead of a file" }],
  certificate: ["certificate", {
    value: "TYPE=NAME",
    summary: `the name in its TLS certificate, for tls_client_auth: ${CERTIFICATE_NAMES.join(", ")}`,
    parse: readCertificateName,
    expected: `TYPE=NAME with one of ${CERTIFICATE_NAMES.join(", ")}`,
  }],
  "token-format": ["access_token_format", {
    value: "FORMAT",
    words: ["opaque", "jwt"],
    summary: "format of the client's access tokens: opaque or jwt",
    shownDefault: "the server's",
  }],
  "require-par": ["require_pushed_authorization_requests", {
    summary: "require pushed authorization requests (RFC 9126)",
  }],
  "require-dpop": ["dpop_bound_access_tokens", { summary: "issue tokens only with a DPoP proof (RFC 9449)" }],
  "bind-certificate": ["tls_client_certificate_bound_access_tokens", {
    summary: "bind tokens to the client's certificate (RFC 8705)",
  }],
  "details-type": ["authorization_details_types", {
    value: "TYPE",
    isRepeatable: true,
    summary: "a type of authorization_details that it can request (RFC 9396)",
    shownDefault: "all",
  }],
  "introspection-alg": ["introspection_signed_response_alg", {
    ...ALGORITHM,
    summary: "sign introspection responses (RFC 9701)",
  }],
  "assertion-alg": ["token_endpoint_auth_signing_alg", {
    ...ALGORITHM,
    summary: "the only algorithm of its assertions (private_key_jwt)",
    shownDefault: "any",
  }],
  "request-object-alg": ["request_object_signing_alg", {
    ...ALGORITHM,
    summary: "the only algorithm of its request objects (RFC 9101)",
    shownDefault: "any",
  }],
  "require-request-object": ["require_signed_request_object", {
    summary: "require signed request objects (RFC 9101)",
  }],
  "request-uri": ["request_uris", {
    value: "URL",
    isRepeatable: true,
    summary: "a URL that it can name as request_uri (RFC 9101)",
  }],
  "response-alg": ["authorization_signed_response_alg", {
    ...ALGORITHM,
    summary: "the algorithm of signed authorization responses (JARM)",
  }],
  trusted: ["trusted", { summary: "you vouch for the client: it skips consent that the user already gave" }],
  introspects: ["introspects", {
    value: "URL",
    isRepeatable: true,
    summary: "a resource whose tokens it can introspect",
    shownDefault: "all",
    parse: parseResource,
    expected: EXPECTED_RESOURCE,
  }],
  "exchange-resource": ["token_exchange_resources", {
    value: "URL",
    isRepeatable: true,
    summary: "a resource that it can exchange tokens for (RFC 8693)",
    parse: parseResource,
    expected: EXPECTED_RESOURCE,
  }],
  "subject-type": ["subject_type", {
    value: "TYPE",
    words: ["public", "pairwise"],
    summary: "OpenID Connect: public or pairwise subjects",
    shownDefault: "the server's",
  }],
  "sector-identifier-uri": ["sector_identifier_uri", {
    value: "URL",
    summary: "OpenID Connect: URL of the redirect URIs that share pairwise subjects",
  }],
  "id-token-alg": ["id_token_signed_response_alg", {
    ...ALGORITHM,
    summary: "OpenID Connect: the algorithm of ID tokens",
    shownDefault: "RS256",
  }],
  "userinfo-alg": ["userinfo_signed_response_alg", {
    ...ALGORITHM,
    summary: "OpenID Connect: sign UserInfo responses",
  }],
  "default-max-age": ["default_max_age", {
    value: "SECONDS",
    range: [0, 999_999_999],
    unit: "seconds",
    summary: "OpenID Connect: the oldest login that is accepted",
    shownDefault: "any",
  }],
  "require-auth-time": ["require_auth_time", { summary: "OpenID Connect: auth_time in every ID token" }],
  "default-acr": ["default_acr_values", {
    value: "ACR",
    isRepeatable: true,
    summary: "OpenID Connect: an authentication context class to ask for",
  }],
  "initiate-login-uri": ["initiate_login_uri", {
    value: "URL",
    summary: "OpenID Connect: where others can start a login at the client",
    parse: readHttpsUrl,
    expected: "an https URL",
  }],
  "post-logout-redirect-uri": ["post_logout_redirect_uris", {
    value: "URI",
    isRepeatable: true,
    summary: "where users can go after sign-out",
  }],
  "backchannel-logout-uri": ["backchannel_logout_uri", {
    value: "URL",
    summary: "gets a logout token when a session ends",
  }],
  "backchannel-logout-session-required": ["backchannel_logout_session_required", {
    summary: "every logout token names the session",
  }],
};

/** The options that set metadata. */
export const METADATA_OPTIONS: Options = Object.fromEntries(
  Object.entries(METADATA).map(([name, [, option]]) => [name, option]),
);

/** The option that removes members. */
export const UNSET_OPTION: {
  readonly value: string;
  readonly isRepeatable: true;
  readonly words: readonly string[];
  readonly summary: string;
} = {
  value: "OPTION",
  isRepeatable: true,
  words: Object.keys(METADATA).filter((name) => name !== "name"),
  summary: "remove what this option set, such as scope or require-dpop",
};

/** The members that the given options set. */
export function readMetadata(values: Readonly<Record<string, unknown>>): ClientChanges {
  const members = Object.entries(METADATA).map(([name, [member]]) => [member, values[name]] as const)
    // A flag that is not given says nothing.
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([member, value]) => [member, member === "scope" ? readScope(value as readonly string[]) : value]);
  return Object.fromEntries(members) as ClientChanges;
}

/** The changes that remove the members of these options. */
export function readUnset(names: readonly string[] | undefined): ClientChanges {
  const members = (names ?? []).map((name) => [METADATA[name]![0], null] as const);
  return Object.fromEntries(members) as ClientChanges;
}

/** The scope of RFC 6749 section 3.3: each text of the option can name several, and none is left out. */
function readScope(texts: readonly string[]): string {
  return [...new Set(texts.flatMap((text) => text.split(" ")).filter((each) => each !== ""))].join(" ");
}

/** A scope that the server does not know by default may be one of a tool, or a mistake. */
export function warnOfScopes(scope: unknown): void {
  const known = Object.keys(SCOPES);
  for (const each of typeof scope === "string" ? scope.split(" ") : []) {
    if (each === "" || known.includes(each) || Object.hasOwn(OPENID_SCOPES, each)) continue;
    const near = suggest(each, known) || ".";
    printError(
      `trivet: warning: "${each}" is no scope of the server, unless its tools or options define it${near} Scopes: ${
        known.join(", ")
      }`,
    );
  }
}

function readKeySet(file: string): { readonly keys: readonly unknown[] } {
  try {
    const { keys } = JSON.parse(readFileSync(file, "utf8")) as { keys?: unknown };
    if (Array.isArray(keys)) return { keys };
  } catch (cause) {
    throw new UsageError(`--jwks: cannot read "${file}": ${describeFileError(cause)}`, { cause });
  }
  throw new UsageError(`--jwks: "${file}" must be a JWK Set: an object with "keys"`);
}

function readCertificateName(text: string): ClientRegistration["certificate"] {
  const [type, value] = text.split(/=(.*)/s);
  const known = CERTIFICATE_NAMES.find((each) => each === type);
  return known && value ? { type: known, value } : undefined;
}

function readHttpsUrl(text: string): string | undefined {
  return URL.parse(text)?.protocol === "https:" ? text : undefined;
}
