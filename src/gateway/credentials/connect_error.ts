/**
 * Why a connection to an upstream is not made, or ended.
 *
 * @module
 */

import { PublicFetchError } from "../../http/network/public_fetch.ts";
import { OAuthError } from "../../oauth/error.ts";
import { SignInError } from "../../oauth/sign_in/provider.ts";

/** A reason, as a code for events and pages. */
export type ConnectProblem =
  /** The user or the authorization server refused. */
  | "access_denied"
  /** The authorization server answered another error. */
  | "authorization_failed"
  /** A link was opened by another user than the one it was made for. */
  | "other_user"
  /** The answer came without the session that began, a second time, or too late. */
  | "state_invalid"
  /** `iss` in the answer is missing or another issuer's (RFC 9207). */
  | "iss_mismatch"
  /** The metadata of the authorization server names another issuer (RFC 8414 section 3.3). */
  | "issuer_mismatch"
  /** The upstream names an authorization server that the configuration does not allow. */
  | "issuer_not_allowed"
  /** The upstream names this server as its authorization server. */
  | "own_issuer"
  /** The metadata of the upstream is that of another resource (RFC 9728 section 3.3). */
  | "resource_mismatch"
  | "metadata_invalid"
  | "metadata_unavailable"
  /** The authorization server does not support PKCE with S256. */
  | "no_pkce"
  /** The authorization server does not register clients: configure `clientId`. */
  | "no_registration"
  | "registration_failed"
  /** The token endpoint refused the code. */
  | "token_refused"
  | "unreachable"
  /** The authorization server refused to refresh a token: the connection ended. */
  | "refresh_refused"
  /** Tokens could not be revoked at the authorization server. */
  | "not_revoked"
  /** Text that was entered as a secret is none. */
  | "secret_invalid"
  /** The upstream was removed, or got another URL, after the user saw its page. */
  | "upstream_changed";

/** A connection that is not made. The message is for the operator, without secrets. */
export class ConnectError extends Error {
  override readonly name = "ConnectError";
  readonly code: ConnectProblem;

  constructor(code: ConnectProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether an error is one of another server or of the network, and not a defect of this one. */
export function isOutsideError(error: unknown): boolean {
  return error instanceof PublicFetchError || error instanceof SignInError ||
    error instanceof OAuthError && error.code === "temporarily_unavailable";
}
