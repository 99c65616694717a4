/**
 * Client metadata (https://www.rfc-editor.org/rfc/rfc7591#section-2), from a registration or a client metadata document.
 * It is untrusted: each member is checked, unknown members are ignored.
 *
 * @module
 */
import { checkJwk, type PublicJwk } from "../../crypto/jwk.ts";
import { JWS_ALGORITHMS } from "../../crypto/jws.ts";
import { checkPublicUrl } from "../../http/network/public_fetch.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError, plain } from "../error.ts";
import type { Client, ClientAuthMethod, GrantType } from "../records/client_record.ts";
import { acceptedAlgorithms, isMethodAllowed } from "../security_profile.ts";
import { readRequestMetadata } from "./request_metadata.ts";
import { findRedirectUriProblem } from "./redirect_uri.ts";

/** The parts of a client's record that come from its metadata. */
export type SelfDescription = Omit<Client, "id" | "source" | "created" | "secret_digest" | "previous_secret">;

/** The grants that self-registered clients may use: none without a user, and none with another client's tokens. */
const OPEN_GRANTS: readonly GrantType[] = [
  "authorization_code",
  "refresh_token",
  "urn:ietf:params:oauth:grant-type:device_code",
];
const METHODS: readonly ClientAuthMethod[] = [
  "none",
  "client_secret_basic",
  "client_secret_post",
  "private_key_jwt",
];
/** Members that are stored and returned unchanged: texts for people. */
const TEXTS = ["client_uri", "logo_uri", "tos_uri", "policy_uri", "software_id", "software_version"];
const MAX_REDIRECT_URIS = 50;
const MAX_TEXT_LENGTH = 2048;

export interface MetadataRules {
  /** The authentication methods that this kind of client may use. */
  readonly methods?: readonly ClientAuthMethod[];
  readonly grants?: readonly GrantType[];
  /** The default method: `client_secret_basic` by RFC 7591 §2. */
  readonly method?: ClientAuthMethod;
}

/**
 * Reads the metadata of one client.
 * @throws {OAuthError} invalid_redirect_uri or invalid_client_metadata, naming the member
 */
export function readClientMetadata(
  as: AuthorizationServer,
  value: unknown,
  { methods = METHODS, grants = OPEN_GRANTS, method = "client_secret_basic" }: MetadataRules = {},
): SelfDescription {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refusal("must be a JSON object");
  }
  if (hasHalfPair(value)) throw refusal("must not have half of a surrogate pair");
  // RFC 7592 section 2.2 treats what is omitted as null, and some clients write every member.
  const metadata = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
  const allowed = methods.filter((each) => isMethodAllowed(as, each));
  const token_endpoint_auth_method = readMethod(metadata, allowed, method);
  const redirect_uris = readRedirectUris(as, metadata.redirect_uris);
  const grant_types = readGrants(metadata, grants, redirect_uris);
  const keys = readKeys(metadata);
  const hasKeys = keys.jwks !== undefined || keys.jwks_uri !== undefined;
  if (token_endpoint_auth_method === "private_key_jwt" && !hasKeys) {
    throw refusal("private_key_jwt requires jwks or jwks_uri");
  }
  const types = metadata.authorization_details_types;
  if (types !== undefined && !isTexts(types)) {
    throw refusal("authorization_details_types must be an array of strings");
  }
  const signed = metadata.introspection_signed_response_alg;
  if (signed !== undefined && !as.signingAlgorithms.some((alg) => alg === signed)) {
    throw refusal(`introspection_signed_response_alg must be one of ${as.signingAlgorithms.join(", ")}`);
  }
  return {
    name: readText(metadata, "client_name") ?? "",
    token_endpoint_auth_method,
    ...readAssertionAlgorithm(as, metadata, token_endpoint_auth_method),
    ...(redirect_uris.length > 0 && { redirect_uris }),
    grant_types,
    ...readScope(as, metadata),
    ...keys,
    ...flag(metadata, "require_pushed_authorization_requests"),
    ...flag(metadata, "dpop_bound_access_tokens"),
    ...(types !== undefined && { authorization_details_types: types }),
    ...(signed !== undefined &&
      { introspection_signed_response_alg: signed as Client["introspection_signed_response_alg"] }),
    ...readRequestMetadata(as, metadata, hasKeys, refusal),
    metadata: readOthers(metadata),
  } as SelfDescription;
}

/** Whether a name or a text is no Unicode text: strict JSON parsers refuse every list of clients with one. */
function hasHalfPair(value: unknown): boolean {
  // A list that grows: the value may be nested as deep as its text is long.
  const parts = [value];
  for (const part of parts) {
    if (typeof part === "string" && !part.isWellFormed()) return true;
    if (typeof part === "object" && part !== null) parts.push(...Object.entries(part).flat());
  }
  return false;
}

function readMethod(
  metadata: Record<string, unknown>,
  methods: readonly ClientAuthMethod[],
  usual: ClientAuthMethod,
): ClientAuthMethod {
  const named = metadata.token_endpoint_auth_method;
  const method = methods.find((each) => each === named);
  if (method) return method;
  // OpenID Connect Relying Party Metadata Choices: the client offers several methods, and one of them is chosen.
  const offered = metadata.token_endpoint_auth_methods_supported;
  const met = isTexts(offered) ? methods.find((each) => offered.includes(each)) : undefined;
  if (met) return met;
  if (named === undefined && methods.includes(usual)) return usual;
  throw refusal(`token_endpoint_auth_method must be one of ${methods.join(", ")}`);
}

/** With another authentication method it has no effect: an unknown value is then ignored. */
function readAssertionAlgorithm(
  as: AuthorizationServer,
  { token_endpoint_auth_signing_alg: value }: Record<string, unknown>,
  method: ClientAuthMethod,
): Pick<Client, "token_endpoint_auth_signing_alg"> {
  const isUsed = method === "private_key_jwt";
  const supported = isUsed ? acceptedAlgorithms(as) : JWS_ALGORITHMS;
  const alg = supported.find((each) => each === value);
  if (isUsed && value !== undefined && !alg) {
    throw refusal(`token_endpoint_auth_signing_alg must be one of ${supported.join(", ")}`);
  }
  return alg ? { token_endpoint_auth_signing_alg: alg } : {};
}

function readRedirectUris(as: AuthorizationServer, uris: unknown): readonly string[] {
  if (uris === undefined) return [];
  if (!isTexts(uris) || uris.length > MAX_REDIRECT_URIS || uris.some((uri) => uri.length > MAX_TEXT_LENGTH)) {
    throw new OAuthError(
      "invalid_redirect_uri",
      `redirect_uris must be an array of at most ${MAX_REDIRECT_URIS} strings of at most ${MAX_TEXT_LENGTH} characters`,
    );
  }
  const kept: string[] = [];
  let refused: OAuthError | undefined;
  for (const uri of uris) {
    const problem = findRedirectUriProblem(uri, as.redirectSchemes);
    if (!problem) {
      kept.push(uri);
      continue;
    }
    refused ??= new OAuthError(
      "invalid_redirect_uri",
      plain(`Invalid redirect URI ${uri.slice(0, 200)}: must ${problem.rule}`, 600),
    );
    if (problem.kind !== "scheme") throw refused;
  }
  // Editors register all their redirect URIs at once. RFC 7591 section 3.2.1: the response names those that are registered.
  if (refused && kept.length === 0) throw refused;
  return kept;
}

function readGrants(
  { grant_types = ["authorization_code"], response_types }: Record<string, unknown>,
  grants: readonly GrantType[],
  redirect_uris: readonly string[],
): readonly GrantType[] {
  if (!isTexts(grant_types)) throw refusal("grant_types must be an array of strings");
  // RFC 7591 section 3.2.1: unsupported grant types are left out, and the response names those that are registered.
  const kept = grants.filter((type) => grant_types.includes(type));
  if (kept.length === 0 || kept.every((type) => type === "refresh_token")) {
    throw refusal(
      `grant_types must contain one of ${
        grants.filter((type) => type !== "refresh_token").join(", ")
      }; implicit and password are not supported (RFC 9700)`,
    );
  }
  const redirects = kept.includes("authorization_code");
  if (redirects && redirect_uris.length === 0) {
    throw new OAuthError("invalid_redirect_uri", "redirect_uris must contain at least one URI");
  }
  // RFC 7591 section 2.1: authorization_code requires code. Other response types are left out.
  if (response_types !== undefined) {
    if (!isTexts(response_types)) throw refusal("response_types must be an array of strings");
    if (redirects && !response_types.includes("code")) {
      throw refusal("the grant type authorization_code requires the response type code");
    }
  }
  return kept;
}

function readKeys({ jwks, jwks_uri }: Record<string, unknown>): Pick<Client, "jwks" | "jwks_uri"> {
  if (jwks !== undefined && jwks_uri !== undefined) {
    throw refusal("jwks and jwks_uri must not both be present");
  }
  if (jwks_uri !== undefined) {
    const problem = typeof jwks_uri === "string" ? checkPublicUrl(jwks_uri) : "must be a string";
    if (problem) throw refusal(`jwks_uri ${problem}`);
    return { jwks_uri: jwks_uri as string };
  }
  if (jwks === undefined) return {};
  const keys = (jwks as { keys?: unknown }).keys;
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > 20) {
    throw refusal("jwks must have 1 to 20 keys");
  }
  return {
    jwks: {
      keys: keys.map((key): PublicJwk => {
        const checked = checkJwk(key);
        if (typeof checked === "string") throw refusal(`jwks: ${checked}`);
        return checked;
      }),
    },
  };
}

/** Unknown and unavailable scopes are left out: the client requests scopes again with each authorization request. */
function readScope(
  as: AuthorizationServer,
  metadata: Record<string, unknown>,
): Pick<Client, "default_scope"> {
  const words = readText(metadata, "scope")?.split(" ").filter((word) => as.implied.has(word)) ?? [];
  const kept = words.filter((scope) => as.commonScopes.includes(scope));
  if (kept.length < words.length && kept.length === 0) {
    throw refusal(`scope must contain one of: ${as.commonScopes.join(" ")}`);
  }
  return kept.length > 0 ? { default_scope: kept.join(" ") } : {};
}

function readOthers(metadata: Record<string, unknown>): Record<string, unknown> {
  const others: Record<string, unknown> = {};
  for (const name of TEXTS) {
    const text = readText(metadata, name);
    if (text === undefined) continue;
    // RFC 7591 §5: URLs that a page may show or link to must be http or https.
    if (name.endsWith("_uri") && !/^https?:$/.test(URL.parse(text)?.protocol ?? "")) {
      throw refusal(`${name} must be an http or https URL`);
    }
    others[name] = text;
  }
  // RFC 7591 §2.2: names in other languages.
  for (const name of Object.keys(metadata)) {
    if (/^client_name#[A-Za-z0-9-]{1,35}$/.test(name) && Object.keys(others).length < 30) {
      others[name] = readText(metadata, name);
    }
  }
  if (isTexts(metadata.contacts) && metadata.contacts.length <= 20) others.contacts = metadata.contacts;
  if (metadata.application_type === "web" || metadata.application_type === "native") {
    others.application_type = metadata.application_type;
  }
  return others;
}

function flag(metadata: Record<string, unknown>, name: string): Record<string, true> {
  const value = metadata[name];
  if (value !== undefined && typeof value !== "boolean") throw refusal(`${name} must be true or false`);
  return value === true ? { [name]: true } : {};
}

function readText(metadata: Record<string, unknown>, name: string): string | undefined {
  const text = metadata[name];
  if (text === undefined) return undefined;
  if (typeof text !== "string" || text.length > MAX_TEXT_LENGTH) {
    throw refusal(`${name} must be a string of at most ${MAX_TEXT_LENGTH} characters`);
  }
  return text;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) &&
    value.every((each) => typeof each === "string" && each.length <= MAX_TEXT_LENGTH);
}

function refusal(rule: string): OAuthError {
  return new OAuthError("invalid_client_metadata", `Invalid client metadata: ${plain(rule)}`);
}
