/**
 * `POST /oauth/token` (https://www.rfc-editor.org/rfc/rfc6749#section-3.2): authenticate the client, pick the
 * grant, answer.
 *
 * @module
 */
import { readForm } from "../http/form.ts";
import { jsonFields, respondJson } from "../http/response.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { authenticateClient } from "./client_auth.ts";
import { OAuthError } from "./error.ts";
import { grantClientCredentials } from "./grant_client_credentials.ts";
import { grantCode } from "./grant_code.ts";
import { grantRefresh } from "./grant_refresh.ts";
import type { Client, GrantType } from "./records.ts";
import type { TokenForm, TokenResponse } from "./token_response.ts";

type GrantFunction = (as: AuthorizationServer, client: Client, form: TokenForm) => Promise<TokenResponse>;

/** The password grant is not here: RFC 9700 §2.4 forbids it. */
const GRANTS: Readonly<Record<GrantType, GrantFunction>> = {
  authorization_code: grantCode,
  refresh_token: grantRefresh,
  client_credentials: grantClientCredentials,
};

const FORM_LIMIT = 16 * 1024;
// RFC 6749 §5.1
const FIELDS = jsonFields(["cache-control", "no-store"], ["pragma", "no-cache"]);

/** Issues tokens. @throws {OAuthError} with the codes of RFC 6749 §5.2 */
export async function token(as: AuthorizationServer, request: Request): Promise<Response> {
  const { values: form, repeated } = await readForm(request, FORM_LIMIT);
  if (repeated.length > 0) {
    throw new OAuthError("invalid_request", "Every parameter must come once (RFC 6749 section 3.2)");
  }
  const client = await authenticateClient(as, request, form);
  const grant_type = form.get("grant_type");
  if (!grant_type) throw new OAuthError("invalid_request", "grant_type is missing");
  if (!Object.hasOwn(GRANTS, grant_type)) {
    throw new OAuthError(
      "unsupported_grant_type",
      `grant_type must be one of ${Object.keys(GRANTS).join(", ")}`,
    );
  }
  if (!client.grant_types.includes(grant_type as GrantType)) {
    throw new OAuthError("unauthorized_client", `This client may not use the grant ${grant_type}`);
  }
  return respondJson(200, await GRANTS[grant_type as GrantType](as, client, form), FIELDS);
}
