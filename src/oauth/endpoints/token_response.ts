/**
 * What goes into a grant and comes out of it (https://www.rfc-editor.org/rfc/rfc6749#section-5.1).
 *
 * @module
 */
import type { Parameters } from "../parameters.ts";
import type { AuthorizationDetail, Client, Confirmation } from "../records.ts";

/** A token request whose client has proven who it is. */
export interface TokenCall {
  readonly client: Client;
  readonly form: Parameters;
  /** The key or certificate that the tokens are to be bound to. */
  readonly cnf: Confirmation | undefined;
}

/** `refresh_token` is absent where the grant gives none. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer" | "DPoP" | "N_A";
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope: string;
  /** RFC 9396 §7 */
  readonly authorization_details?: readonly AuthorizationDetail[];
  /** RFC 8693 §2.2.1 */
  readonly issued_token_type?: string;
}

/** RFC 9449 §5: the type tells how the token is to be sent. */
export function tokenTypeOf(cnf: Confirmation | undefined): "Bearer" | "DPoP" {
  return cnf?.jkt === undefined ? "Bearer" : "DPoP";
}
