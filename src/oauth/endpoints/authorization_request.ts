/**
 * Checks the parameters of an authorization request
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1).
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import { parseAuthorizationDetails } from "../grants/authorization_details.ts";
import { OAuthError } from "../error.ts";
import { withoutOfflineAccess } from "../openid/offline_access.ts";
import { type Parameters, refuseRepeated } from "../parameters.ts";
import { checkChallenge } from "../grants/pkce.ts";
import type { AuthorizationRequest } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import { findResources } from "../grants/resource.ts";
import { grantScope } from "../grants/scope.ts";
import { chooseResponse } from "../response_modes/response_mode.ts";

/** How the user must be authenticated and asked: OpenID Connect Core §3.1.2.1, RFC 9470 §4. */
export interface AuthenticationRequirements {
  readonly prompt: ReadonlySet<string>;
  /** Maximum seconds since the login. */
  readonly max_age?: number;
  /** The login must satisfy one of these. */
  readonly acr_values?: readonly string[];
}

/**
 * The parameters as a typed request.
 * @param redirect_uri checked by the caller
 * @throws {OAuthError} to be sent to the client: at its redirect URI, or as the response of the PAR endpoint
 */
export function checkAuthorizationRequest(
  as: AuthorizationServer,
  client: Client,
  parameters: Parameters,
  redirect_uri: string,
): AuthorizationRequest {
  refuseRepeated(parameters);
  checkResponseType(parameters);
  const response = chooseResponse(as, client, parameters, redirect_uri);
  if (!client.grant_types.includes("authorization_code")) {
    throw new OAuthError(
      "unauthorized_client",
      "The client is not authorized to use the authorization code grant",
    );
  }
  const code_challenge = checkChallenge(
    as,
    client,
    parameters.get("code_challenge"),
    parameters.get("code_challenge_method"),
  );
  const dpop_jkt = parameters.get("dpop_jkt");
  if (dpop_jkt !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(dpop_jkt)) {
    throw new OAuthError(
      "invalid_request",
      "dpop_jkt must be the SHA-256 thumbprint of a JWK, base64url-encoded",
    );
  }
  const scope = grantScope(
    as,
    client,
    as.openid ? withoutOfflineAccess(parameters) : parameters.get("scope"),
  );
  const resource = findResources(as, parameters.all("resource"));
  const authorization_details = parseAuthorizationDetails(
    as,
    client,
    parameters.get("authorization_details"),
  );
  const state = parameters.get("state");
  return {
    client_id: client.id,
    redirect_uri,
    redirect_uri_sent: parameters.has("redirect_uri"),
    scope,
    ...(resource && { resource }),
    ...(authorization_details && { authorization_details }),
    ...(state !== undefined && { state }),
    ...response,
    ...(code_challenge !== undefined && { code_challenge }),
    ...(dpop_jkt !== undefined && { dpop_jkt }),
  };
}

function checkResponseType(parameters: Parameters): void {
  const response_type = parameters.get("response_type");
  if (!response_type) {
    throw new OAuthError("invalid_request", "response_type is missing: send response_type=code");
  }
  if (response_type !== "code") {
    // RFC 9700 §2.1.2: the implicit grant sends tokens in URLs.
    throw new OAuthError("unsupported_response_type", "Unsupported response_type: only code is supported");
  }
  // RFC 9101 §7: with request objects on, the parameters here are those of the object.
  if (parameters.has("request")) {
    throw new OAuthError(
      "request_not_supported",
      "Request objects are not supported: send the parameters themselves, or push them (RFC 9126)",
    );
  }
}

/** RFC 9101 §10.5. @throws {OAuthError} invalid_request for a request that must be a signed request object and is none */
export function requireSignature(as: AuthorizationServer, client: Client, isSigned: boolean): void {
  if (!isSigned && (as.requestObjects === "required" || client.require_signed_request_object)) {
    throw new OAuthError(
      "invalid_request",
      "The request must be a signed request object: send it as request (RFC 9101)",
    );
  }
}

/** @throws {OAuthError} invalid_request for malformed values */
export function parseAuthenticationRequirements(parameters: Parameters): AuthenticationRequirements {
  const prompt = new Set(parameters.get("prompt")?.split(" "));
  if (prompt.has("none") && prompt.size > 1) {
    throw new OAuthError("invalid_request", "prompt=none must not be combined with another value");
  }
  const max_age = parameters.get("max_age");
  if (max_age !== undefined && !/^\d{1,9}$/.test(max_age)) {
    throw new OAuthError("invalid_request", "max_age must be a number of seconds, with 1 to 9 digits");
  }
  const acr_values = parameters.get("acr_values")?.split(" ");
  return {
    prompt,
    ...(max_age !== undefined && { max_age: Number(max_age) }),
    ...(acr_values && { acr_values }),
  };
}
