/**
 * Client metadata of OpenID Connect (https://openid.net/specs/openid-connect-registration-1_0.html#section-2, and section 2 of
 * RP-Initiated Logout and Back-Channel Logout). It is untrusted: each member is checked.
 *
 * @module
 */
import type { JwsAlgorithm } from "../../crypto/jws.ts";
import { checkPublicUrl, type PublicDocument, PublicFetchError } from "../../http/network/public_fetch.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findRedirectUriProblem } from "../clients/redirect_uri.ts";
import { OAuthError, plain } from "../error.ts";
import type { Client, OpenIdClient } from "../records/client_record.ts";

const MAX_URIS = 50;
const MAX_TEXT_LENGTH = 2048;
const SECTOR_LIFETIME_MS = 10 * 60 * 1000;

/**
 * Reads the members of OpenID Connect. The sector identifier is not fetched: see {@linkcode checkSector}.
 * @param described the other members, already checked
 * @throws {OAuthError} invalid_client_metadata, naming the member
 */
export function readOpenIdMetadata(
  as: AuthorizationServer,
  metadata: Readonly<Record<string, unknown>>,
  { redirect_uris = [] }: Pick<Client, "redirect_uris">,
): OpenIdClient {
  const subject_type = readSubjectType(as, metadata.subject_type);
  const sector_identifier_uri = readUrl(metadata, "sector_identifier_uri");
  const hosts = new Set(redirect_uris.map((uri) => URL.parse(uri)?.host ?? uri));
  if (
    (subject_type ?? as.openid!.subjectTypes[0]) === "pairwise" && hosts.size > 1 && !sector_identifier_uri
  ) {
    throw refusal("pairwise subjects require sector_identifier_uri when redirect_uris have several hosts");
  }
  const { default_max_age, require_auth_time, default_acr_values } = metadata;
  if (
    default_max_age !== undefined && !(Number.isSafeInteger(default_max_age) && Number(default_max_age) >= 0)
  ) {
    throw refusal("default_max_age must be a number of seconds");
  }
  checkFlag(require_auth_time, "require_auth_time");
  checkFlag(metadata.backchannel_logout_session_required, "backchannel_logout_session_required");
  if (default_acr_values !== undefined && !isTexts(default_acr_values)) {
    throw refusal("default_acr_values must be an array of strings");
  }
  if (metadata.id_token_encrypted_response_alg !== undefined) {
    throw refusal("id_token_encrypted_response_alg is not supported");
  }
  if (metadata.userinfo_encrypted_response_alg !== undefined) {
    throw refusal("userinfo_encrypted_response_alg is not supported");
  }
  return given({
    subject_type,
    sector_identifier_uri,
    id_token_signed_response_alg: readAlgorithm(as, metadata, "id_token_signed_response_alg"),
    userinfo_signed_response_alg: readAlgorithm(as, metadata, "userinfo_signed_response_alg"),
    default_max_age,
    require_auth_time,
    default_acr_values,
    initiate_login_uri: readUrl(metadata, "initiate_login_uri"),
    post_logout_redirect_uris: readLogoutUris(as, metadata.post_logout_redirect_uris),
    backchannel_logout_uri: readUrl(metadata, "backchannel_logout_uri"),
    backchannel_logout_session_required: metadata.backchannel_logout_session_required,
  });
}

function readSubjectType(as: AuthorizationServer, value: unknown): OpenIdClient["subject_type"] {
  const known = as.openid!.subjectTypes.find((type) => type === value);
  if (value === undefined || known) return known;
  throw refusal(`subject_type must be one of ${as.openid!.subjectTypes.join(", ")}`);
}

function readAlgorithm(
  as: AuthorizationServer,
  metadata: Readonly<Record<string, unknown>>,
  name: "id_token_signed_response_alg" | "userinfo_signed_response_alg",
): JwsAlgorithm | undefined {
  const known = as.signingAlgorithms.find((alg) => alg === metadata[name]);
  if (metadata[name] === undefined || known) return known;
  throw refusal(`${name} must be one of ${as.signingAlgorithms.join(", ")}`);
}

/** An https URL of a public host: this server or a browser will follow it. */
function readUrl(metadata: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = metadata[name];
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value.length > MAX_TEXT_LENGTH) throw refusal(`${name} must be a string`);
  const problem = checkPublicUrl(value);
  if (problem) throw refusal(`${name} ${problem}`);
  return value;
}

/** They are compared as text, by the rules of redirect URIs. */
function readLogoutUris(as: AuthorizationServer, uris: unknown): readonly string[] | undefined {
  if (uris === undefined) return undefined;
  if (!isTexts(uris) || uris.length > MAX_URIS) {
    throw refusal(`post_logout_redirect_uris must be an array of at most ${MAX_URIS} strings`);
  }
  for (const uri of uris) {
    const problem = findRedirectUriProblem(uri, as.redirectSchemes);
    if (problem) throw refusal(`post_logout_redirect_uris: ${uri.slice(0, 200)} must ${problem.rule}`);
  }
  return uris;
}

/**
 * Core §8.1: the document at the URI lists every redirect URI, of which there must be one, so that no other client joins
 * the sector.
 * @param network of the caller, which has a fetch budget unless the client is known
 * @throws {OAuthError} invalid_client_metadata, or temporarily_unavailable when the document must not be fetched now
 */
export async function checkSector(
  as: AuthorizationServer,
  { sector_identifier_uri: url, redirect_uris = [] }: Pick<Client, "sector_identifier_uri" | "redirect_uris">,
  { network, isKnown = false }: { readonly network: string | undefined; readonly isKnown?: boolean },
): Promise<void> {
  if (url === undefined) return;
  if (redirect_uris.length === 0) throw refusal("sector_identifier_uri requires redirect_uris");
  try {
    const { value } = await as.documents.get({
      kind: "sector",
      url,
      network,
      isKnown,
      read: readUris,
    });
    const missing = redirect_uris.find((uri) => !value.includes(uri));
    if (missing !== undefined) throw refusal("sector_identifier_uri does not list every redirect URI");
  } catch (error) {
    if (!(error instanceof PublicFetchError)) throw error;
    throw refusal(`sector_identifier_uri could not be fetched: ${error.message}`);
  }
}

function readUris({ text }: PublicDocument): { value: readonly string[]; lifetime: number } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isTexts(value)) throw new PublicFetchError("The document must be a JSON array of strings");
  return { value, lifetime: SECTOR_LIFETIME_MS };
}

function checkFlag(value: unknown, name: string): void {
  if (value !== undefined && typeof value !== "boolean") throw refusal(`${name} must be true or false`);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) &&
    value.every((each) => typeof each === "string" && each.length <= MAX_TEXT_LENGTH);
}

/** Without the members that are undefined. */
function given(members: { readonly [Name in keyof OpenIdClient]: unknown }): OpenIdClient {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function refusal(rule: string): OAuthError {
  return new OAuthError("invalid_client_metadata", `Invalid client metadata: ${plain(rule, 600)}`);
}
