/**
 * The input and the output of a grant type handler (https://www.rfc-editor.org/rfc/rfc6749#section-5.1).
 *
 * @module
 */
import type { Parameters } from "../parameters.ts";
import type { AuthorizationDetail } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import type { Confirmation } from "../records/token_record.ts";

/** A token request of an authenticated client. */
export interface TokenCall {
  readonly client: Client;
  readonly form: Parameters;
  /** The key or certificate to which the tokens are bound. */
  readonly cnf: Confirmation | undefined;
}

export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer" | "DPoP" | "N_A";
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token?: string;
  /** Absent only for an identity assertion without one. */
  readonly scope?: string;
  /** OpenID Connect Core §3.1.3.3 */
  readonly id_token?: string;
  /** RFC 9396 §7 */
  readonly authorization_details?: readonly AuthorizationDetail[];
  /** The resources that an identity assertion (ID-JAG) grants. */
  readonly resource?: string | readonly string[];
  /** RFC 8693 §2.2.1 */
  readonly issued_token_type?: string;
}

/** RFC 9449 §5: tokens that are bound to a DPoP key have the type `DPoP`. */
export function tokenTypeOf(cnf: Confirmation | undefined): "Bearer" | "DPoP" {
  return cnf?.jkt === undefined ? "Bearer" : "DPoP";
}
