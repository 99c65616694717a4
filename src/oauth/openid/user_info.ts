/**
 * `GET` and `POST /oauth/userinfo`: claims about the user of an access token
 * (https://openid.net/specs/openid-connect-core-1_0.html#section-5.3).
 *
 * @module
 */
import { signJws } from "../../crypto/jws.ts";
import { bearerChallenge, TokenRefusal } from "../../http/bearer.ts";
import { jsonFields, NO_STORE, respond, respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { CACHED } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findClient } from "../clients/client.ts";
import { OAuthError } from "../error.ts";
import type { Client } from "../records/client_record.ts";
import { type Grant, grantKey } from "../records/grant_record.ts";
import { checkRequest, scopesOf, toLimitedCaller } from "../tokens/protect.ts";
import { sendDueNotices } from "./backchannel_logout.ts";
import { claimsOf, limitClaimScope } from "./claims.ts";
import { allowedAlgorithm } from "../security_profile.ts";
import { subjectOf } from "./subject.ts";

const FIELDS = jsonFields(NO_STORE);

/**
 * The client of a token.
 * @throws {OAuthError} invalid_token when its metadata document is no longer valid; temporarily_unavailable when the document
 * cannot be fetched
 */
async function findTokenClient(
  as: AuthorizationServer,
  id: string,
  context: RequestContext,
): Promise<Client | undefined> {
  try {
    return await findClient(as, id, context);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { code, message, fields } = error;
    // 503: nothing is wrong with the request.
    if (code === "temporarily_unavailable") throw new OAuthError(code, message, { cause: error, fields });
    if (code !== "invalid_client") throw error;
    const refusal = new TokenRefusal("invalid_token", "The client of the access token is no longer valid");
    throw new OAuthError("invalid_token", refusal.description, { cause: error, fields: refusal.challenge() });
  }
}

/**
 * 200 with the claims: JSON, or a JWT for a client that registered `userinfo_signed_response_alg`.
 * @throws {OAuthError} invalid_token, or insufficient_scope for a token without the scope `openid`
 */
export async function showUserInfo(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const url = as.origin + as.base + "/oauth/userinfo";
  const caller = await checkRequest(as, request, context, url, (live) => live);
  if (caller === "none") {
    throw new OAuthError(
      "invalid_token",
      "Missing access token. Send the header Authorization: Bearer <access token>",
      // RFC 6750 §3.1: no error code when the request has no token.
      { fields: [["www-authenticate", bearerChallenge({})]] },
    );
  }
  if (caller instanceof TokenRefusal) {
    throw new OAuthError("invalid_token", caller.description, { fields: caller.challenge() });
  }
  const { token, owner } = caller;
  await context.limitCaller?.(toLimitedCaller(token));
  await sendDueNotices(as, context);
  const scopes = scopesOf(as, token.scope);
  const client = owner && scopes.has("openid")
    ? await findTokenClient(as, token.client_id, context)
    : undefined;
  if (!owner || !client) {
    throw new OAuthError(
      "insufficient_scope",
      "Insufficient scope: the access token needs the scope openid",
      {
        fields: [["www-authenticate", bearerChallenge({ error: "insufficient_scope", scope: "openid" })]],
      },
    );
  }
  // The claims parameter is kept with the grant.
  const grant = token.grant === undefined
    ? undefined
    : await as.store.get<Grant>(grantKey(token.grant), CACHED);
  const { claims: requested, claim_scope } = grant?.value.openid ?? {};
  const allowed = new Set([...scopes, ...limitClaimScope(as, client, owner, claim_scope)]);
  const claims = {
    sub: await subjectOf(as, client, owner.id),
    ...claimsOf(owner, scopes, requested?.userinfo, allowed),
  };
  const { userinfo_signed_response_alg: alg } = client;
  if (alg === undefined) return respondJson(200, claims, FIELDS);
  const key = await as.keys.current(allowedAlgorithm(as, alg));
  const jwt = await signJws(key, "JWT", { iss: as.issuer, aud: client.id, ...claims });
  return respond(200, jwt, [["content-type", "application/jwt"], NO_STORE]);
}
