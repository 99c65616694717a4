/**
 * `POST /oauth/revoke` (https://www.rfc-editor.org/rfc/rfc7009#section-2): a client ends a token of its own. A refresh
 * token takes its whole family with it; an access token goes alone.
 *
 * @module
 */
import { equalInConstantTime, secretDigest } from "../../crypto/secret.ts";
import { jsonFields, respondJson } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import { findAccessToken, revokeAccessToken } from "../tokens/access_token.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { authenticateClient } from "../clients/client_auth.ts";
import { OAuthError } from "../error.ts";
import { readParameters } from "../parameters.ts";
import { type Grant, grantKey } from "../records.ts";
import { readRefreshToken } from "../tokens/refresh_token.ts";

/** RFC 7009 section 2.2 has clients look at the status alone; some parse the body as JSON all the same. */
const FIELDS = jsonFields(["cache-control", "no-store"]);

/** An answer of 200 says that the token is good nowhere any more. @throws {OAuthError} as the token endpoint */
export async function revoke(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await readParameters(request);
  const client = await authenticateClient(as, request, context, form);
  const token = form.get("token");
  if (!token) throw new OAuthError("invalid_request", "token is missing");
  // RFC 7009 §2.1: token_type_hint only says where to look first, and our tokens say it themselves.
  const found = await findToken(as, token);
  // §2.2: what is not good has nothing to be revoked.
  if (!found) return respondJson(200, {}, FIELDS);
  if (found.client_id !== client.id) {
    throw new OAuthError("invalid_grant", "The token was not issued to this client");
  }
  // Removed whatever it holds by now: a rotation that races with this finds no grant to rotate.
  await found.revoke();
  as.observe({
    type: "token_revoked",
    client: client.id,
    ...(found.user !== undefined && { user: found.user }),
  });
  return respondJson(200, {}, FIELDS);
}

async function findToken(
  as: AuthorizationServer,
  token: string,
): Promise<{ client_id: string; user?: string; revoke: () => Promise<unknown> } | undefined> {
  const id = readRefreshToken(token);
  if (id === undefined) {
    const live = await findAccessToken(as, token);
    return live && { ...live.token, revoke: () => revokeAccessToken(as, live) };
  }
  const entry = await as.store.get<Grant>(grantKey(id));
  if (!entry) return undefined;
  const { client_id, user, refresh, previous } = entry.value;
  const digest = secretDigest(token);
  const known = [refresh, previous].some((each) => each && equalInConstantTime(digest, each.digest));
  return known ? { client_id, user, revoke: () => as.store.commit({ remove: [entry.key] }) } : undefined;
}
