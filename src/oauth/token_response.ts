/**
 * What goes into a grant and comes out of it (https://www.rfc-editor.org/rfc/rfc6749#section-5.1).
 *
 * @module
 */

/** The parameters of a token request, each once. */
export type TokenForm = ReadonlyMap<string, string>;

/** `refresh_token` is absent where the grant gives none. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: "Bearer";
  /** Seconds. */
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope: string;
}
