/**
 * The members that an OpenID Provider adds to the metadata
 * (https://openid.net/specs/openid-connect-discovery-1_0.html#section-3).
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import { USER_CLAIMS } from "./claims.ts";

/** The members of the metadata that OpenID Connect Discovery section 3 adds to those of RFC 8414. */
export function describeProvider(as: AuthorizationServer): Record<string, unknown> {
  const url = (path: string) => as.origin + as.base + path;
  return {
    userinfo_endpoint: url("/oauth/userinfo"),
    subject_types_supported: as.openid!.subjectTypes,
    id_token_signing_alg_values_supported: as.signingAlgorithms,
    userinfo_signing_alg_values_supported: as.signingAlgorithms,
    end_session_endpoint: url("/oauth/logout"),
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    claim_types_supported: ["normal"],
    claims_supported: [...USER_CLAIMS, "iss", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid"],
    claims_parameter_supported: true,
    ...(as.openid!.identityAssertions.length > 0 && {
      identity_chaining_requested_token_types_supported: ["urn:ietf:params:oauth:token-type:id-jag"],
    }),
    display_values_supported: ["page"],
    prompt_values_supported: ["none", "login", "consent", "select_account"],
  };
}
