/**
 * `POST /oauth/introspect` (https://www.rfc-editor.org/rfc/rfc7662#section-2): a protected resource asks what a token is
 * good for, and may have the answer signed (https://www.rfc-editor.org/rfc/rfc9701). Who asks must prove who they are,
 * and hears only of tokens that are its business.
 *
 * @module
 */
import { signJws } from "../../crypto/jws.ts";
import { equalInConstantTime, secretDigest } from "../../crypto/secret.ts";
import { acceptNames } from "../../http/body/media_type.ts";
import { type Fields, jsonFields, respond, respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { findAccessToken } from "../tokens/access_token.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { isPublic } from "../clients/client.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { OAuthError } from "../error.ts";
import { findLive } from "../tokens/liveness.ts";
import { readParameters } from "../parameters.ts";
import { type Authorization, type Client, type Grant, grantKey } from "../records.ts";
import { readRefreshToken } from "../tokens/refresh_token.ts";
import { tokenTypeOf } from "./token_response.ts";

const FIELDS = jsonFields(["cache-control", "no-store"], ["pragma", "no-cache"]);
const SIGNED = "application/token-introspection+jwt";
const SIGNED_FIELDS: Fields = [["content-type", SIGNED], ["cache-control", "no-store"], [
  "pragma",
  "no-cache",
]];
/** RFC 7662 §2.2: nothing else is said of a token that is not good. */
const INACTIVE = { active: false };

/** What the token is, or `{ active: false }`; as a JWT for whoever accepts that. @throws {OAuthError} */
export async function introspect(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await readParameters(request);
  const client = await authenticateClient(as, request, context, form);
  // §2.1: who may ask must prove who they are.
  if (isPublic(client)) {
    throw new OAuthError(
      "invalid_client",
      "Token introspection requires client authentication: public clients cannot use it",
    );
  }
  const token = form.get("token");
  if (!token) throw new OAuthError("invalid_request", "token is missing");
  const answer = await describe(as, client, token);
  if (!acceptNames(request.headers.get("accept"), SIGNED)) return respondJson(200, answer, FIELDS);
  const claims = {
    iss: as.issuer,
    aud: client.id,
    iat: Math.floor(as.now() / 1000),
    token_introspection: answer,
  };
  const key = await as.keys.current(client.introspection_signed_response_alg);
  return respond(200, await signJws(key, "token-introspection+jwt", claims), SIGNED_FIELDS);
}

async function describe(as: AuthorizationServer, client: Client, token: string): Promise<object> {
  const id = readRefreshToken(token);
  if (id !== undefined) return await describeRefreshToken(as, client, id, token);
  const found = (await findAccessToken(as, token))?.token;
  if (!found || !mayKnow(as, client, found)) return INACTIVE;
  const {
    scope,
    client_id,
    user,
    issued,
    expires,
    resource,
    cnf,
    authentication,
    authorization_details,
    act,
  } = found;
  return {
    active: true,
    scope,
    client_id,
    token_type: tokenTypeOf(cnf),
    iat: Math.floor(issued / 1000),
    exp: Math.floor(expires / 1000),
    sub: user ?? client_id,
    aud: resource === undefined ? as.issuer : resource.length === 1 ? resource[0] : resource,
    iss: as.issuer,
    ...(cnf && { cnf }),
    ...authentication,
    ...(authorization_details && { authorization_details }),
    ...(act && { act }),
  };
}

/** §4: a client knows of its own tokens; a resource server that the operator set up, of those for what it serves. */
function mayKnow(as: AuthorizationServer, client: Client, { client_id, resource }: Authorization): boolean {
  if (client_id === client.id) return true;
  if (client.source !== "operator") return false;
  return client.introspects === undefined ||
    (resource ?? [as.issuer]).some((each) => client.introspects!.includes(each));
}

/** A refresh token is told to its own client alone. */
async function describeRefreshToken(
  as: AuthorizationServer,
  client: Client,
  id: string,
  token: string,
): Promise<object> {
  const grant = (await as.store.get<Grant>(grantKey(id)))?.value;
  if (!grant?.refresh || grant.client_id !== client.id || grant.refresh.expires <= as.now()) return INACTIVE;
  if (!equalInConstantTime(secretDigest(token), grant.refresh.digest)) return INACTIVE;
  const { client_id, client_since, user } = grant;
  const live = await findLive(as, { client_id, client_since, user, scope: grant.scope });
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
