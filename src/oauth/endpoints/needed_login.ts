/**
 * Whether the session of a user is what an authorization request requires: OpenID Connect Core section 3.1.2.1, RFC 9470.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import { findFactors, hasSecondFactor } from "../factors/factor_record.ts";
import type { Authentication } from "../records/authorization_record.ts";
import type { SignedIn } from "../users/session.ts";
import type { AuthenticationRequirements } from "./authorization_request.ts";

/** Nothing, all of a login, or only the second factor of a user who has one. */
export type NeededLogin = "none" | "login" | "second_factor";

/**
 * Whether the session suffices, lacks a second factor only (RFC 9470 §4), or a new login is needed.
 * @throws {OAuthError} after a new login: unmet_authentication_requirements when it did not satisfy `acr_values` (RFC 9470
 * §5), login_required when another user than the expected one signed in
 */
export async function findNeededLogin(
  as: AuthorizationServer,
  { prompt, max_age, acr_values }: AuthenticationRequirements,
  { since, authentication, satisfies, user }: SignedIn,
  min_auth_time: number | undefined,
  isOtherUser: boolean,
): Promise<NeededLogin> {
  const isNewLogin = min_auth_time !== undefined && since >= min_auth_time;
  const satisfiesAcr = acr_values === undefined ||
    acr_values.some((acr) => acr === authentication.acr || satisfies.includes(acr));
  const canStepUp = !satisfiesAcr && acr_values.includes(as.factors.acr) &&
    hasSecondFactor(await findFactors(as, user.id));
  if (isNewLogin) {
    if (isOtherUser) {
      throw new OAuthError("login_required", "Another user signed in than the one whom the request names");
    }
    if (satisfiesAcr) return "none";
    if (canStepUp) return "second_factor";
    throw new OAuthError(
      "unmet_authentication_requirements",
      "The user did not sign in with any of the requested acr_values",
    );
  }
  const isOld = max_age !== undefined && since + max_age * 1000 < as.now();
  if (isOtherUser || prompt.has("login") || isOld || min_auth_time !== undefined) return "login";
  if (satisfiesAcr) return "none";
  return canStepUp ? "second_factor" : "login";
}

/** A login that is stronger than requested is reported as the requested class, which is what the client looks for. */
export function toRequestedClass(
  { authentication, satisfies }: SignedIn,
  { acr_values = [authentication.acr] }: AuthenticationRequirements,
): Authentication {
  if (acr_values.includes(authentication.acr)) return authentication;
  const { auth_time, amr } = authentication;
  return { auth_time, acr: acr_values.find((acr) => satisfies.includes(acr))!, ...(amr && { amr }) };
}
