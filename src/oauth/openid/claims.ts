/**
 * Claims about the user (https://openid.net/specs/openid-connect-core-1_0.html#section-5): what scopes and the `claims`
 * parameter request, and what this server knows.
 *
 * @module
 */
import { OAuthError } from "../error.ts";
import type { ClaimRequest, ClaimRequests, ClaimsRequest } from "../records/authorization_record.ts";
import type { Profile } from "../records/user_record.ts";

/** The claims that this server can return about a user. */
export const USER_CLAIMS = [
  "sub",
  "name",
  "preferred_username",
  "updated_at",
  "email",
  "email_verified",
] as const;

/** A user of this server, or of `authenticateUser`. */
type ClaimedUser = Profile & { readonly created?: number };

/** §5.4 */
const SCOPE_CLAIMS: Readonly<Record<string, readonly string[]>> = {
  profile: ["name", "preferred_username", "updated_at"],
  email: ["email", "email_verified"],
};
const MAX_CLAIMS_CHARACTERS = 2048;

/** The claims that the scopes and the request name and that this server knows about the user, without `sub`. */
export function claimsOf(
  user: ClaimedUser,
  scopes: ReadonlySet<string>,
  requested: ClaimRequests | undefined,
): Record<string, unknown> {
  const names = new Set(
    Object.keys(SCOPE_CLAIMS).flatMap((scope) => scopes.has(scope) ? SCOPE_CLAIMS[scope]! : []),
  );
  for (const name of Object.keys(requested ?? {})) names.add(name);
  const { name, username, email, email_verified, created, updated = created } = user;
  const known: Record<string, unknown> = {
    ...(name !== "" && { name }),
    ...(username !== undefined && { preferred_username: username }),
    ...(updated !== undefined && { updated_at: Math.floor(updated / 1000) }),
    // §5.1: verified means that someone made sure that the user controls the address.
    ...(email !== "" && { email, email_verified: Boolean(email_verified) }),
  };
  return Object.fromEntries(Object.entries(known).filter(([each]) => names.has(each)));
}

/** Reads the `claims` parameter (§5.5). Unknown claims and members are ignored. @throws {OAuthError} invalid_request */
export function parseClaims(text: string | undefined): ClaimsRequest | undefined {
  if (text === undefined) return undefined;
  if (text.length > MAX_CLAIMS_CHARACTERS) {
    throw refusal(`must be at most ${MAX_CLAIMS_CHARACTERS} characters`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal("must be JSON");
  }
  if (!isObject(value)) throw refusal("must be a JSON object");
  const userinfo = parseMember(value, "userinfo");
  const id_token = parseMember(value, "id_token");
  return { ...(userinfo && { userinfo }), ...(id_token && { id_token }) };
}

function parseMember(claims: Readonly<Record<string, unknown>>, member: string): ClaimRequests | undefined {
  const value = claims[member];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw refusal(`${member} must be a JSON object`);
  const requests: [string, ClaimRequest][] = [];
  for (const [name, request] of Object.entries(value)) {
    if (![...USER_CLAIMS, "acr", "auth_time"].includes(name)) continue;
    if (request !== null && !isObject(request)) {
      throw refusal(`${member}.${name} must be null or a JSON object`);
    }
    const { essential, value: only, values } = request ?? {};
    if (essential !== undefined && typeof essential !== "boolean") {
      throw refusal(`${member}.${name}.essential must be true or false`);
    }
    if (values !== undefined && !Array.isArray(values)) {
      throw refusal(`${member}.${name}.values must be an array`);
    }
    const texts = [...(only === undefined ? [] : [only]), ...(values ?? [])].filter((each) =>
      typeof each === "string"
    );
    requests.push([name, {
      ...(essential === true && { essential }),
      ...(texts.length > 0 && { values: texts }),
    }]);
  }
  return Object.fromEntries(requests);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refusal(rule: string): OAuthError {
  return new OAuthError("invalid_request", `claims ${rule}`);
}
