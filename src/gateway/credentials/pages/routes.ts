/**
 * The pages below `/account/connections`: the list, the consent before a connection, the answer of an authorization server,
 * and the end of a connection. The authorization server serves them among its account pages.
 *
 * @module
 */
import { pathOf } from "../../../http/router.ts";
import type { RequestContext } from "../../../http/service.ts";
import { notFound } from "../../../oauth/account/account_form.ts";
import type { AuthorizationServer } from "../../../oauth/authorization_server.ts";
import { CONNECTIONS_PATH } from "../context.ts";
import { finish } from "./callback.ts";
import { connect, showConnect } from "./connect_page.ts";
import type { ConnectionPagesContext, Handle } from "./frame.ts";
import { disconnect, showDisconnect, showList } from "./list_page.ts";

const ROUTES: Readonly<Record<string, { readonly GET: Handle; readonly POST?: Handle }>> = {
  "": { GET: showList },
  "/connect": { GET: showConnect, POST: connect },
  "/disconnect": { GET: showDisconnect, POST: disconnect },
};
const CALLBACK: { readonly GET: Handle; readonly POST?: Handle } = { GET: finish };

/** Answers a request to one of these pages. */
export async function serveConnectionPage(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  pages.revocations.runSometimes();
  const path = pathOf(request.url).slice(as.base.length + CONNECTIONS_PATH.length);
  const found = path.startsWith("/callback/") ? CALLBACK : ROUTES[path];
  const handle = found?.[request.method === "POST" ? "POST" : "GET"];
  return handle ? await handle(pages, as, request, context) : await notFound(as, request);
}
