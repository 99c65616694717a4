/**
 * `POST /oauth/authorize`: carries out what the user decided on the consent page
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2).
 *
 * @module
 */
import { parseForm, readFormText } from "../../http/body/form.ts";
import { describeForeignForm, isSameOrigin } from "../../http/network/origin.ts";
import { NO_STORE, respond } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findClient } from "../clients/client.ts";
import { respondToClient } from "../endpoints/authorize_response.ts";
import { OAuthError } from "../error.ts";
import { issueCode } from "../grants/code.ts";
import { pushedRequestKey } from "../records/authorization_record.ts";
import { findSession } from "../users/session.ts";
import { parseDecision, refuseRepeatedFields } from "./decision.ts";
import { getTransaction, transactionEnded } from "./transaction.ts";

const MAX_FORM_BYTES = 16 * 1024;
/** What servers in front accept in a URL. */
const MAX_QUERY_CHARACTERS = 8000;

/**
 * An authorization request that was sent by POST (OpenID Connect Core §3.1.2.1). It goes on by GET, because browsers send no
 * cookie with a form of another site.
 */
function redirectToGet(as: AuthorizationServer, form: string): Response {
  const query = new URLSearchParams(form).toString();
  if (query.length > MAX_QUERY_CHARACTERS) {
    throw new OAuthError("invalid_request", "The authorization request is too long: push it (RFC 9126)");
  }
  return respond(303, null, [["location", `${as.base}/oauth/authorize?${query}`], NO_STORE]);
}

function crossSite(as: AuthorizationServer, request: Request): OAuthError {
  return new OAuthError("invalid_request", describeForeignForm(request, as.origin));
}

/**
 * `POST /oauth/authorize` with `transaction` and `decision` (`approve` or `deny`): 302 to the client. The transaction
 * can be answered once, in the session to which its page was shown.
 * @throws {OAuthError} to be shown as a page
 */
export async function decideConsent(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const isOwnForm = isSameOrigin(request, as.origin);
  if (!isOwnForm && !as.openid) throw crossSite(as, request);
  const text = await readFormText(request, MAX_FORM_BYTES);
  const { values, repeated } = parseForm(text);
  if (as.openid && !values.has("transaction") && values.has("client_id")) return redirectToGet(as, text);
  if (!isOwnForm) throw crossSite(as, request);
  refuseRepeatedFields(repeated);
  const decision = parseDecision(values);
  const signedIn = await findSession(as, request);
  if (!signedIn) throw transactionEnded();
  const entry = await getTransaction(as, signedIn, values.get("transaction"), "authorization");
  const { user, request: asked, pushed } = entry.value;
  const { client_id } = asked;
  if (decision === "deny") {
    const remove = [entry.key, ...(pushed === undefined ? [] : [pushedRequestKey(pushed)])];
    const check = [{ key: entry.key, version: entry.version }];
    // Before the commit: what it signs may need a key from the store.
    const response = await respondToClient(as, request, asked, {
      error: "access_denied",
      error_description: "The user denied the request",
    });
    if (!await as.store.commit({ check, remove })) throw transactionEnded();
    as.observe({ type: "consent_denied", user, client: client_id });
    return response;
  }
  const client = await findClient(as, client_id, context);
  if (!client) {
    throw new OAuthError("invalid_request", "The application is no longer registered with this server");
  }
  return await issueCode(as, client, entry.value, signedIn, request, entry);
}
