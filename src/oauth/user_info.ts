/**
 * `GET /api/user`: who the token's user is. Protected as RFC 6750 says; refusals are plain text.
 *
 * @module
 */
import { bearerChallenge, readBearer } from "../http/bearer.ts";
import { jsonFields, respondJson, respondText } from "../http/response.ts";
import { verifyAccessToken } from "./access_token.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { findUser } from "./user.ts";

const FIELDS = jsonFields(["cache-control", "no-store"]);

/** `{ id, name, email }`; 401 without a live token, 403 for a token that no user stands behind. */
export async function userInfo(as: AuthorizationServer, request: Request): Promise<Response> {
  const token = readBearer(request);
  if (token === undefined) {
    // RFC 6750 §3.1: no error code when the request shows no attempt.
    return refuse(401, "Send an access token: Authorization: Bearer <access token>", {});
  }
  const principal = await verifyAccessToken(as, token);
  if (!principal) {
    const text = "The access token is unknown, expired or revoked";
    return refuse(401, text, { error: "invalid_token", error_description: text });
  }
  if (principal.subject === undefined) {
    const text = "This token stands for a client: a token that a user granted is needed";
    return refuse(403, text, { error: "insufficient_scope", error_description: text });
  }
  const user = await findUser(as.store, principal.subject);
  if (!user) {
    const text = "The user of this token is gone";
    return refuse(401, text, { error: "invalid_token", error_description: text });
  }
  return respondJson(200, { id: user.id, name: user.name, email: user.email }, FIELDS);
}

function refuse(status: 401 | 403, text: string, members: Record<string, string>): Response {
  return respondText(status, text, [["www-authenticate", bearerChallenge(members)]]);
}
