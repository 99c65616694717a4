/**
 * Rich authorization requests (https://www.rfc-editor.org/rfc/rfc9396): JSON objects of types that the operator defines,
 * for permissions that need more detail than a scope.
 *
 * @module
 */
import { toCanonicalJson } from "../../crypto/canonical_json.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError, plain } from "../error.ts";
import type { AuthorizationDetail } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";

/** Objects in one request: a person can read these on a consent page. */
const MAX_DETAILS = 20;
const MAX_TEXT_LENGTH = 8192;
/** Nesting: recursion over deeper values could overflow the stack. */
const MAX_DEPTH = 20;

/**
 * The details of a request, each checked by the rules of its type.
 * @throws {OAuthError} invalid_authorization_details (RFC 9396 §5)
 */
export function parseAuthorizationDetails(
  as: AuthorizationServer,
  client: Client,
  text: string | undefined,
): readonly AuthorizationDetail[] | undefined {
  if (text === undefined) return undefined;
  if (text.length > MAX_TEXT_LENGTH) throw refusal(`must have at most ${MAX_TEXT_LENGTH} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal("must be JSON");
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_DETAILS) {
    throw refusal(`must be an array of 1 to ${MAX_DETAILS} objects`);
  }
  if (isDeeper(value, MAX_DEPTH)) throw refusal(`must be nested at most ${MAX_DEPTH} levels deep`);
  for (const detail of value) checkDetail(as, client, detail);
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

function checkDetail(as: AuthorizationServer, client: Client, detail: unknown): void {
  if (typeof detail !== "object" || detail === null || Array.isArray(detail)) {
    throw refusal("must contain only objects");
  }
  const { type } = detail as Partial<AuthorizationDetail>;
  if (typeof type !== "string") throw refusal("must have a type in each object");
  if (!Object.hasOwn(as.authorizationDetailTypes, type)) {
    throw refusal(`has an unknown type: ${plain(type)}`);
  }
  if (!mayHaveType(client, type)) {
    throw refusal(`has a type that is not allowed for this client: ${plain(type)}`);
  }
  const problem = as.authorizationDetailTypes[type]!.check(detail as AuthorizationDetail);
  if (problem !== undefined) throw refusal(`has an invalid ${plain(type)} object: ${plain(problem)}`);
}

/** Whether the registration of the client allows the type (RFC 9396 §10). */
function mayHaveType({ authorization_details_types: types }: Client, type: string): boolean {
  return types === undefined || types.includes(type);
}

/**
 * The requested part of the granted details (RFC 9396 §6): without a request all that the client may have now, as with
 * scopes. They may have been granted to another client, or before its registration or the types of the server changed.
 * @throws {OAuthError} invalid_authorization_details for an object that equals no granted one
 */
export function narrowAuthorizationDetails(
  as: AuthorizationServer,
  client: Client,
  granted: readonly AuthorizationDetail[] | undefined,
  text: string | undefined,
): readonly AuthorizationDetail[] | undefined {
  const asked = parseAuthorizationDetails(as, client, text);
  if (!asked) {
    const kept = granted?.filter(({ type }) =>
      Object.hasOwn(as.authorizationDetailTypes, type) && mayHaveType(client, type)
    );
    return kept?.length === 0 ? undefined : kept;
  }
  const held = new Set(granted?.map(toCanonicalJson));
  if (asked.some((detail) => !held.has(toCanonicalJson(detail)))) {
    throw refusal("exceeds the granted authorization_details");
  }
  return asked;
}

/** What the details allow, one line of text each. */
export function describeAuthorizationDetails(
  as: AuthorizationServer,
  details: readonly AuthorizationDetail[] = [],
): readonly string[] {
  return details.map((detail) => as.authorizationDetailTypes[detail.type]?.describe(detail) ?? detail.type);
}

function refusal(rule: string): OAuthError {
  return new OAuthError("invalid_authorization_details", `authorization_details ${rule}`);
}
