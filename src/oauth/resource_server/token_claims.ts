/**
 * The claims of an access token of another issuer, from a JWT (https://www.rfc-editor.org/rfc/rfc9068#section-2.2) or from
 * introspection (https://www.rfc-editor.org/rfc/rfc7662#section-2.2): whether they are valid here, and the principal.
 *
 * @module
 */
import type { Claims } from "../../crypto/jws.ts";
import type { Principal } from "../../http/principal.ts";
import type { Confirmation } from "../records/token_record.ts";

/** What the claims must be. */
export interface ClaimRules {
  readonly issuer: string;
  /** `aud` must contain one of them. */
  readonly audience: readonly string[];
  /** By how much clocks may differ, in seconds. */
  readonly clockTolerance: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The one workspace of all callers. */
const WORKSPACE = "default";

/**
 * The rule that the claims break, as a sentence about the token; `undefined` when they are valid now.
 * @param isJwt whether `iss`, `exp`, `sub` and `client_id` are required, as in RFC 9068; in RFC 7662 they are optional
 */
export function findClaimProblem(
  { issuer, audience, clockTolerance, now }: ClaimRules,
  claims: Claims,
  isJwt: boolean,
): string | undefined {
  const { iss, aud, exp, nbf, iat, sub, client_id } = claims;
  if (iss !== issuer && (isJwt || iss !== undefined)) return "The access token is of another issuer";
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (!audience.some((each) => audiences.includes(each))) {
    return `The access token was not issued for ${audience.join(" or ")}`;
  }
  const seconds = now() / 1000;
  if (isJwt || exp !== undefined) {
    if (!isTime(exp)) return "The access token has no valid exp";
    if (exp + clockTolerance <= seconds) return "The access token is expired";
  }
  for (const time of [nbf, iat]) {
    if (time === undefined) continue;
    if (!isTime(time) || time - clockTolerance > seconds) return "The access token is not valid yet";
  }
  for (const name of [sub, client_id]) {
    const isText = typeof name === "string" && name !== "";
    if (!isText && (isJwt || name !== undefined)) return "The access token has no valid sub and client_id";
  }
  return undefined;
}

/** RFC 7519 §2: a NumericDate. JSON can also contain numbers that become Infinity. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/**
 * What the token is bound to; `undefined` for a bearer token, `"unsupported"` for a binding that this server cannot check:
 * such a token must not be accepted as if it were not bound.
 */
export function confirmationOf({ cnf, token_type }: Claims): Confirmation | undefined | "unsupported" {
  if (cnf === undefined || cnf === null) {
    const isBearer = typeof token_type !== "string" || token_type.toLowerCase() !== "dpop";
    return isBearer ? undefined : "unsupported";
  }
  if (typeof cnf !== "object") return "unsupported";
  const members = Object.entries(cnf);
  const isKnown = members.length > 0 &&
    members.every(([name, value]) => (name === "jkt" || name === "x5t#S256") && typeof value === "string");
  return isKnown ? cnf : "unsupported";
}

/** The principal of valid claims. */
export function toPrincipal(
  { issuer, clockTolerance }: ClaimRules,
  claims: Claims,
  isStillValid?: () => Promise<boolean>,
): Principal {
  const { sub, client_id, scope, aud, exp, auth_time, acr, authorization_details } = claims;
  const scopes = typeof scope === "string" ? scope.split(" ").filter((each) => each !== "") : [];
  const principal: { -readonly [Name in keyof Principal]: Principal[Name] } = {
    issuer,
    scopes: new Set(scopes),
    workspace: WORKSPACE,
    audience: (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === "string"),
  };
  // RFC 9068 §2.2: without a user the client is the subject.
  if (typeof sub === "string" && sub !== client_id) principal.subject = sub;
  if (typeof client_id === "string") principal.client = client_id;
  if (isTime(exp)) principal.expires = (exp + clockTolerance) * 1000;
  if (isTime(auth_time)) principal.authTime = auth_time;
  if (typeof acr === "string") principal.acr = acr;
  if (Array.isArray(authorization_details)) principal.authorizationDetails = authorization_details;
  if (isStillValid) principal.isStillValid = isStillValid;
  return principal;
}
