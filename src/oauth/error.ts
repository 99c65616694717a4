/**
 * The errors of the authorization server: one class and one table of codes
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1 and #section-5.2).
 *
 * @module
 */
import type { Fields } from "../http/response.ts";

/**
 * HTTP status of each code at JSON endpoints. RFC 6749 §5.2: 400, but 401 for failed client authentication. Each comment
 * names the extension that defines the codes below it.
 */
const STATUS = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  access_denied: 403,
  server_error: 500,
  temporarily_unavailable: 503,

  // RFC 6750 §3.1, at endpoints that take an access token
  invalid_token: 401,
  insufficient_scope: 403,

  // RFC 7591 §3.2.2
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,

  // RFC 8628 §3.5
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,

  // RFC 8707 §2
  invalid_target: 400,

  // RFC 9101 §7 and RFC 9126 §2.3
  invalid_request_uri: 400,
  invalid_request_object: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,

  // RFC 9396 §5
  invalid_authorization_details: 400,

  // RFC 9449 §5 and §8
  invalid_dpop_proof: 400,
  use_dpop_nonce: 400,

  // RFC 9470 §5, and what `prompt=none` may get (OpenID Connect Core §3.1.2.6)
  unmet_authentication_requirements: 400,
  login_required: 400,
  account_selection_required: 400,
  consent_required: 400,
  interaction_required: 400,
  registration_not_supported: 400,
} as const;

export type OAuthErrorCode = keyof typeof STATUS;

/**
 * An error with a code of the standard. The message becomes `error_description`, for the developer of the client: it names
 * the parameter and the rule, but never which of several checks on a secret failed. RFC 6749 §5.2 allows printable ASCII
 * without double quotes and backslashes.
 */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** Further header fields of the response. */
  readonly fields: Fields;
  /** The request was answered or has expired: its page says so to the user. */
  readonly isEnded: boolean;

  constructor(
    code: OAuthErrorCode,
    description: string,
    options?: ErrorOptions & {
      readonly status?: number;
      readonly fields?: Fields;
      readonly isEnded?: boolean;
    },
  ) {
    super(description, options);
    this.code = code;
    this.status = options?.status ?? STATUS[code];
    this.fields = options?.fields ?? [];
    this.isEnded = options?.isEnded ?? false;
  }
}

/** Text of a request with the characters that an `error_description` may have, shortened. */
export function plain(text: string, maxLength = 200): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "?").slice(0, maxLength);
}
