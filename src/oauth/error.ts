/**
 * What the authorization server says when it refuses: one error class, one table of codes
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1 and #section-5.2).
 *
 * @module
 */

/** Code to HTTP status at the token endpoint. RFC 6749 §5.2: 400, but 401 for a client that is not known. */
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
} as const;

export type OAuthErrorCode = keyof typeof STATUS;

/**
 * A refusal with a code of the standard. The description is for the client's developer: it names the
 * parameter and the rule, and never tells which of several checks on a secret failed. RFC 6749 §5.2 allows
 * it printable ASCII without double quotes and backslashes.
 */
export class OAuthError extends Error {
  override readonly name = "OAuthError";
  readonly code: OAuthErrorCode;
  readonly status: number;

  constructor(code: OAuthErrorCode, description: string, options?: ErrorOptions & { status?: number }) {
    super(description, options);
    this.code = code;
    this.status = options?.status ?? STATUS[code];
  }
}
