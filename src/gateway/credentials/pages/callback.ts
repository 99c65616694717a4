/**
 * `/account/connections/callback/…`: the answer of an authorization server.
 *
 * @module
 */
import { parseForm } from "../../../http/body/form.ts";
import { pathOf, queryOf } from "../../../http/router.ts";
import type { RequestContext } from "../../../http/service.ts";
import { redirectDone } from "../../../oauth/account/account_form.ts";
import { findAccountUser } from "../../../oauth/account/account_user.ts";
import type { AuthorizationServer } from "../../../oauth/authorization_server.ts";
import { toSessionStore } from "../../../oauth/users/session_store.ts";
import { finishConnection, takeAttempt } from "../authorize.ts";
import { ConnectError } from "../connect_error.ts";
import { removeConnection } from "../connection.ts";
import { CONNECTIONS_PATH, type Upstream } from "../context.ts";
import type { OAuthAuth } from "../upstream_auth.ts";
import { type ConnectionPagesContext, refuseConnection, showProblem } from "./frame.ts";

/** The answer of an authorization server: it counts only in the session that began. */
export async function finish(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const account = await findAccountUser(as, request);
  const { values, repeated } = parseForm(queryOf(request.url));
  if (!account || repeated.length > 0) {
    return await refuseConnection(as, request, { code: "session_changed" }, 400);
  }
  let name = "";
  try {
    const session = { user: account.id, session: account.signedIn.session };
    const redirect_uri = as.origin + pathOf(request.url);
    const answered = await takeAttempt(pages.credentials, session, values.get("state"), redirect_uri);
    name = answered.entry.value.upstream;
    const upstream = pages.upstreams.get(name);
    const { url } = answered.entry.value;
    if (!isOfOAuth(upstream, url)) throw changedMeanwhile();
    // The session may end while the authorization server is asked.
    const credentials = { ...pages.credentials, store: toSessionStore(as, account.signedIn) };
    await finishConnection(credentials, upstream, account.id, answered, values);
    // Its removal may have ended all connections before this one was made.
    if (!isOfOAuth(pages.upstreams.get(name), url)) {
      await removeConnection(pages.credentials, account.id, name);
      await pages.revocations.run();
      throw changedMeanwhile();
    }
    pages.credentials.observe({ type: "connection_added", user: account.id, upstream: name, ip: context.ip });
    return redirectDone(as, CONNECTIONS_PATH, "connected", account.signedIn.session);
  } catch (error) {
    return await showProblem(pages, as, request, context, account.id, name, error);
  }
}

/** Whether users still connect the upstream with this URL by OAuth. */
function isOfOAuth(upstream: Upstream | undefined, url: string): upstream is Upstream<OAuthAuth> {
  return upstream?.auth.type === "oauth" && upstream.url === url;
}

function changedMeanwhile(): ConnectError {
  return new ConnectError("state_invalid", "The upstream was changed or removed meanwhile");
}
