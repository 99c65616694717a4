/**
 * `POST /oauth/revoke` (https://www.rfc-editor.org/rfc/rfc7009#section-2): a client revokes one of its
 * tokens. Revoking a refresh token revokes its whole grant; revoking an access token revokes only that token.
 *
 * @module
 */
import { equalInConstantTime, secretDigest } from "../../crypto/secret.ts";
import { jsonFields, NO_STORE, respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { OPAQUE_PREFIX, readAccessToken, revokeAccessToken } from "../tokens/access_token.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { OAuthError } from "../error.ts";
import { readParameters } from "../parameters.ts";
import { type Grant, grantKey } from "../records/grant_record.ts";
import { accessTokenKey } from "../records/token_record.ts";
import { readRefreshToken } from "../tokens/refresh_token.ts";
import { waitForRemoval } from "../../store/store.ts";
import { grantKeys } from "../users/user_grants.ts";

/** RFC 7009 §2.2: clients look at the status only. Some parse the body as JSON nevertheless. */
const JSON_FIELDS = jsonFields(NO_STORE);

/** 200 once the token is not valid, also when it never was. @throws {OAuthError} with the codes of RFC 6749 §5.2 */
export async function revoke(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await readParameters(request);
  const client = await authenticateClient(as, request, context, form);
  const token = form.get("token");
  if (!token) throw new OAuthError("invalid_request", "token is missing");
  // §2.1: token_type_hint is an optimization. The prefix of a token already says its type.
  const found = await findToken(as, token);
  // §2.2: an invalid token is no error.
  if (!found) {
    if (isStored(token)) await waitForRemoval(as.store, accessTokenKey(secretDigest(token)));
    return respondJson(200, {}, JSON_FIELDS);
  }
  if (found.client_id !== client.id) {
    throw new OAuthError("invalid_grant", "The token was not issued to this client");
  }
  // Removed without a version check: a concurrent rotation then finds no grant.
  await found.revoke();
  as.observe({
    type: "token_revoked",
    client: client.id,
    ...(found.user !== undefined && { user: found.user }),
  });
  return respondJson(200, {}, JSON_FIELDS);
}

/** Whether the token has the form of one that is a record in the store: those may be in the cache. */
function isStored(token: string): boolean {
  return readRefreshToken(token) !== undefined || token.startsWith(OPAQUE_PREFIX);
}

async function findToken(
  as: AuthorizationServer,
  token: string,
): Promise<{ client_id: string; user?: string; revoke: () => Promise<unknown> } | undefined> {
  const id = readRefreshToken(token);
  if (id === undefined) {
    // Also one that is not valid now: it is again when its user is unlocked. With its grant it has ended for good.
    const read = await readAccessToken(as, token);
    const grant = read?.token.grant;
    if (!read || grant !== undefined && !await as.store.get(grantKey(grant))) return undefined;
    return { ...read.token, revoke: () => revokeAccessToken(as, read) };
  }
  const entry = await as.store.get<Grant>(grantKey(id));
  if (!entry) return undefined;
  const { client_id, user, refresh, previous } = entry.value;
  const digest = secretDigest(token);
  const isCurrent = [refresh, previous].some((each) => each && equalInConstantTime(digest, each.digest));
  return isCurrent
    ? { client_id, user, revoke: () => as.store.commit({ remove: grantKeys(user, id) }) }
    : undefined;
}
