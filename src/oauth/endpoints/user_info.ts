/**
 * `GET /api/user`: the user of an access token (https://www.rfc-editor.org/rfc/rfc6750). Errors are plain text.
 *
 * @module
 */
import { bearerChallenge, TokenRefusal } from "../../http/bearer.ts";
import { jsonFields, NO_STORE, respondJson, respondText } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { parseParameters } from "../parameters.ts";
import { checkRequest, scopesOf, toLimitedCaller } from "../tokens/protect.ts";

/** Allows access to the name and the e-mail address. */
const REQUIRED_SCOPE = "profile";
const FIELDS = jsonFields(NO_STORE);

/** 200 with `{ id, name, email }`; 401 without a valid token, 403 for a token without a user or without the scope `profile`. */
export async function userInfo(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  // RFC 6750 §2: a client must not use two methods. The query alone is ignored (RFC 9700 §4.3.2).
  const isInQuery = request.url.includes("access_token=") &&
    parseParameters(queryOf(request.url)).has("access_token");
  if (isInQuery && request.headers.has("authorization")) {
    const text = "Two ways of sending the access token: send it in the Authorization header only";
    return respondError(400, text, { error: "invalid_request", error_description: text });
  }
  const caller = await checkRequest(as, request, context, as.origin + as.base + "/api/user", (live) => live);
  if (caller === "none") {
    // RFC 6750 §3.1: no error code when the request has no token.
    return respondError(
      401,
      "Missing access token. Send the header Authorization: Bearer <access token>",
      {},
    );
  }
  if (caller instanceof TokenRefusal) return respondText(401, caller.description, caller.challenge());
  const { token, owner } = caller;
  await context.limitCaller?.(toLimitedCaller(token));
  // `checkRequest` has already checked that the user exists.
  if (!owner) {
    const text = "The access token was issued to a client without a user: send one that a user granted";
    return respondError(403, text, { error: "insufficient_scope", error_description: text });
  }
  if (!scopesOf(as, token.scope).has(REQUIRED_SCOPE)) {
    const text = `Insufficient scope: the access token needs the scope ${REQUIRED_SCOPE}`;
    return respondError(403, text, {
      error: "insufficient_scope",
      error_description: text,
      scope: REQUIRED_SCOPE,
    });
  }
  return respondJson(200, { id: owner.id, name: owner.name, email: owner.email }, FIELDS);
}

function respondError(status: 400 | 401 | 403, text: string, members: Record<string, string>): Response {
  return respondText(status, text, [["www-authenticate", bearerChallenge(members)]]);
}
