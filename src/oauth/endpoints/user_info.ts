/**
 * `GET /api/user`: who the token's user is. Protected as RFC 6750 says; refusals are plain text.
 *
 * @module
 */
import { bearerChallenge, TokenRefusal } from "../../http/bearer.ts";
import { jsonFields, respondJson, respondText } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { parseParameters } from "../parameters.ts";
import { checkRequest, scopesOf } from "../tokens/protect.ts";

/** What a user allows with it is what this endpoint answers: name and e-mail address. */
const SCOPE = "profile";
const FIELDS = jsonFields(["cache-control", "no-store"]);

/** `{ id, name, email }`; 401 without a live token, 403 for a token of no user, or without the scope `profile`. */
export async function userInfo(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  // RFC 6750 §2: one way of sending it; the query is none here (RFC 9700 §4.3.2).
  const twice = request.url.includes("access_token=") &&
    parseParameters(queryOf(request.url)).has("access_token");
  if (twice && request.headers.has("authorization")) {
    const text = "Two ways of sending the access token: send it in the Authorization header only";
    return refuse(400, text, { error: "invalid_request", error_description: text });
  }
  const caller = await checkRequest(as, request, context, as.origin + as.base + "/api/user", (live) => live);
  if (caller === "none") {
    // RFC 6750 §3.1: no error code when the request shows no attempt.
    return refuse(401, "Missing access token. Send the header Authorization: Bearer <access token>", {});
  }
  if (caller instanceof TokenRefusal) return respondText(401, caller.description, caller.challenge());
  const { token, owner } = caller;
  // Whether the user is there was looked at with the token.
  if (!owner) {
    const text = "The access token was issued to a client without a user: send one that a user granted";
    return refuse(403, text, { error: "insufficient_scope", error_description: text });
  }
  if (!scopesOf(as, token.scope).has(SCOPE)) {
    const text = `Insufficient scope: the access token needs the scope ${SCOPE}`;
    return refuse(403, text, { error: "insufficient_scope", error_description: text, scope: SCOPE });
  }
  return respondJson(200, { id: owner.id, name: owner.name, email: owner.email }, FIELDS);
}

function refuse(status: 400 | 401 | 403, text: string, members: Record<string, string>): Response {
  return respondText(status, text, [["www-authenticate", bearerChallenge(members)]]);
}
