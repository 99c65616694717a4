/**
 * `POST /oauth/introspect` (https://www.rfc-editor.org/rfc/rfc7662#section-2): describes a token to a
 * protected resource, on request in a signed JWT (https://www.rfc-editor.org/rfc/rfc9701). The caller must authenticate
 * and learns only of its own tokens and of tokens for its resources.
 *
 * @module
 */
import { signJws } from "../../crypto/jws.ts";
import { equalInConstantTime, secretDigest } from "../../crypto/secret.ts";
import { acceptNames } from "../../http/body/media_type.ts";
import { type Fields, NO_STORE_FIELDS, respond, respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { findAccessToken, type LiveAccessToken } from "../tokens/access_token.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { isPublic } from "../clients/client.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { OAuthError } from "../error.ts";
import { findLive } from "../tokens/liveness.ts";
import { readParameters } from "../parameters.ts";
import type { Authorization } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import { type Grant, grantKey } from "../records/grant_record.ts";
import { allowedAlgorithm } from "../security_profile.ts";
import { readRefreshToken } from "../tokens/refresh_token.ts";
import { NO_STORE_JSON } from "./no_store.ts";
import { isServedBy } from "../grants/resource.ts";
import { tokenTypeOf } from "../grants/token_response.ts";

const SIGNED_MEDIA_TYPE = "application/token-introspection+jwt";
const SIGNED_FIELDS: Fields = [["content-type", SIGNED_MEDIA_TYPE], ...NO_STORE_FIELDS];
/** RFC 7662 §2.2: no other member for a token that is not active. */
const INACTIVE = { active: false };

/** 200 with the description of the token or `{ active: false }`; a JWT when `Accept` names it. @throws {OAuthError} */
export async function introspect(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await readParameters(request);
  const isSigned = acceptNames(request.headers.get("accept"), SIGNED_MEDIA_TYPE);
  let client: Client;
  try {
    client = await authenticateClient(as, request, context, form);
  } catch (error) {
    // RFC 9701 section 5: 400; RFC 6749 section 5.2: but 401 for credentials in the Authorization header field.
    if (!isSigned || request.headers.has("authorization") || !(error instanceof OAuthError)) throw error;
    if (error.code !== "invalid_client" || error.status !== 401) throw error;
    throw new OAuthError(error.code, error.message, { status: 400 });
  }
  // RFC 7662 §2.1
  if (isPublic(client)) {
    throw new OAuthError(
      "invalid_client",
      "Token introspection requires client authentication: public clients cannot use it",
    );
  }
  const token = form.get("token");
  if (!token) throw new OAuthError("invalid_request", "token is missing");
  const id = readRefreshToken(token);
  const answer = id === undefined
    ? describeAccessToken(as, client, await findAccessToken(as, token))
    : await describeRefreshToken(as, client, id, token);
  if (!isSigned) return respondJson(200, answer, NO_STORE_JSON);
  const claims = {
    iss: as.issuer,
    aud: client.id,
    iat: Math.floor(as.now() / 1000),
    token_introspection: answer,
  };
  const { introspection_signed_response_alg: alg } = client;
  const key = await as.keys.current(alg && allowedAlgorithm(as, alg));
  return respond(200, await signJws(key, "token-introspection+jwt", claims), SIGNED_FIELDS);
}

function describeAccessToken(
  as: AuthorizationServer,
  client: Client,
  live: LiveAccessToken | undefined,
): object {
  const found = live?.token;
  if (!found || !mayIntrospect(as, client, found)) return INACTIVE;
  const { scope, client_id, user, issued, expires, resource, cnf, authentication } = found;
  const answer: Record<string, unknown> = {
    active: true,
    scope,
    client_id,
    token_type: tokenTypeOf(cnf),
    iat: Math.floor(issued / 1000),
    exp: Math.floor(expires / 1000),
    sub: user ?? client_id,
    aud: resource === undefined ? as.issuer : resource.length === 1 ? resource[0] : resource,
    iss: as.issuer,
  };
  // Not spread: most tokens have none of these.
  if (cnf) answer.cnf = cnf;
  if (authentication) Object.assign(answer, authentication);
  if (found.authorization_details) answer.authorization_details = found.authorization_details;
  if (found.act) answer.act = found.act;
  return answer;
}

/**
 * RFC 7662 §4: a client may introspect its own tokens; a client that the operator registered, also tokens for the
 * resources that it serves.
 */
function mayIntrospect(as: AuthorizationServer, client: Client, token: Authorization): boolean {
  return token.client_id === client.id || client.source === "operator" && isServedBy(as, client, token);
}

/** Only for the client to which the refresh token was issued. */
async function describeRefreshToken(
  as: AuthorizationServer,
  client: Client,
  id: string,
  token: string,
): Promise<object> {
  const grant = (await as.store.get<Grant>(grantKey(id)))?.value;
  if (!grant?.refresh || grant.client_id !== client.id || grant.refresh.expires <= as.now()) return INACTIVE;
  if (!equalInConstantTime(secretDigest(token), grant.refresh.digest)) return INACTIVE;
  const { client_id, client_since, user, scope, created } = grant;
  const live = await findLive(as, { client_id, client_since, user, scope, issued: created });
  if (!live) return INACTIVE;
  return {
    active: true,
    scope: live.scope,
    client_id: grant.client_id,
    exp: Math.floor(grant.refresh.expires / 1000),
    sub: grant.user,
    iss: as.issuer,
  };
}
