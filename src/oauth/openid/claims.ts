/**
 * Claims about the user (https://openid.net/specs/openid-connect-core-1_0.html#section-5): what scopes and the `claims`
 * parameter request, and what this server knows.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { allowedScopes, expandScopes } from "../grants/scope.ts";
import type { ClaimRequest, ClaimRequests, ClaimsRequest } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import type { Profile } from "../records/user_record.ts";
import { limitToRole } from "../users/user_role.ts";

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

/**
 * The claims that the scopes and the request name and that this server knows about the user, without `sub`.
 * @param scopes whose claims are added
 * @param requested by the parameter `claims`
 * @param allowed the scopes whose claims may be requested
 */
export function claimsOf(
  user: ClaimedUser,
  scopes: ReadonlySet<string>,
  requested: ClaimRequests = {},
  allowed: ReadonlySet<string> = scopes,
): Record<string, unknown> {
  const names = new Set(
    Object.keys(SCOPE_CLAIMS).flatMap((scope) => scopes.has(scope) ? SCOPE_CLAIMS[scope]! : []),
  );
  for (const name of Object.keys(requested)) if (allowed.has(scopeOf(name))) names.add(name);
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

/**
 * The scopes that the user must allow so that the requested claims are released: those of the claims, as far as the client may
 * have them and the user may grant them, without those in `scope`.
 */
export function findClaimScope(
  as: AuthorizationServer,
  client: Client,
  user: Profile,
  { userinfo, id_token }: ClaimsRequest,
  scope: string,
): string {
  const granted = expandScopes(as, scope.split(" "));
  const wanted = new Set(Object.keys({ ...userinfo, ...id_token }).map(scopeOf));
  const missing = [...wanted].filter((each) => each !== "" && !granted.has(each));
  return limitClaimScope(as, client, user, missing.join(" ")).join(" ");
}

/** The part of scopes for claims that the client may have and the user may grant now. */
export function limitClaimScope(
  as: AuthorizationServer,
  client: Client,
  user: Profile,
  scope: string = "",
): readonly string[] {
  const allowed = expandScopes(as, allowedScopes(as, client));
  return limitToRole(as, user, scope).split(" ").filter((each) => allowed.has(each));
}

/** The scope to which a claim belongs; `""` for one that needs none. */
function scopeOf(claim: string): string {
  return Object.keys(SCOPE_CLAIMS).find((scope) => SCOPE_CLAIMS[scope]!.includes(claim)) ?? "";
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
