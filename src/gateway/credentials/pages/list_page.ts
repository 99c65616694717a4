/**
 * `/account/connections`: the upstreams with their state, and the end of a connection.
 *
 * @module
 */
import { parseForm } from "../../../http/body/form.ts";
import { pathOf, queryOf } from "../../../http/router.ts";
import type { RequestContext } from "../../../http/service.ts";
import { notFound, openForm, readDone, redirectDone } from "../../../oauth/account/account_form.ts";
import { openAccount } from "../../../oauth/account/account_user.ts";
import type { ConnectionView } from "../../../oauth/account/connections/connection_views.ts";
import type { AuthorizationServer } from "../../../oauth/authorization_server.ts";
import { showPage } from "../../../oauth/pages/page.ts";
import { getProviderToken } from "../../../oauth/sign_in/provider_tokens.ts";
import { parseScopes } from "../challenge.ts";
import { isOutsideError } from "../connect_error.ts";
import { findConnection, isOf, listConnections, removeConnection } from "../connection.ts";
import { CONNECTIONS_PATH } from "../context.ts";
import { type ConnectionPagesContext, kindOf, listOf, providerOf } from "./frame.ts";

export async function showList(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  const kept = await listConnections(pages.credentials, account.id);
  const views: ConnectionView[] = [];
  for (const upstream of pages.upstreams.values()) {
    const kind = kindOf(upstream);
    if (kind === undefined) continue;
    const { name } = upstream;
    const found = kept.get(name);
    const value = found && isOf(upstream, found) ? found : undefined;
    const isConnected = kind === "provider"
      ? await hasProviderToken(pages, account.id, providerOf(upstream)!)
      : value !== undefined;
    const query = `?upstream=${encodeURIComponent(name)}`;
    views.push({
      upstream: name,
      host: new URL(upstream.url).host,
      kind,
      isConnected,
      scopes: parseScopes(value?.scope),
      connect: `${listOf(as)}/connect${query}`,
      ...(kind !== "provider" && value && {
        connected: value.connected,
        disconnect: `${listOf(as)}/disconnect${query}`,
      }),
    });
  }
  const done = readDone(request, account, ["connected", "disconnected"]);
  return await showPage(as, request, {
    name: "connections",
    ...(as.account && { account: `${as.base}/account` }),
    upstreams: views,
    ...(done && { done }),
  }, { formAction: "'none'" });
}

async function hasProviderToken(
  { credentials }: ConnectionPagesContext,
  user: string,
  provider: string,
): Promise<boolean> {
  try {
    return await getProviderToken(credentials.oauth!.providerAccess, user, provider) !== undefined;
  } catch (error) {
    // The provider cannot be asked now: the tokens are there.
    if (isOutsideError(error)) return true;
    throw error;
  }
}

export async function showDisconnect(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
): Promise<Response> {
  const back = pathOf(request.url).slice(as.base.length) + "?" + queryOf(request.url);
  const account = await openAccount(as, request, { back });
  if (account instanceof Response) return account;
  const upstream = pages.upstreams.get(parseForm(queryOf(request.url)).values.get("upstream") ?? "");
  const entry = upstream && await findConnection(pages.credentials, upstream, account.id);
  if (!entry || kindOf(upstream) === "provider") return await notFound(as, request);
  return await showPage(as, request, {
    name: "connection_disconnect",
    connections: listOf(as),
    upstream: upstream.name,
    host: new URL(upstream.url).host,
    form: { action: `${listOf(as)}/disconnect`, hidden: { upstream: upstream.name } },
  }, { formAction: "'self'" });
}

export async function disconnect(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await openForm(as, request, { back: CONNECTIONS_PATH });
  if (form instanceof Response) return form;
  const { account: { id, signedIn }, values, store } = form;
  const name = values.get("upstream") ?? "";
  if (!await removeConnection({ store }, id, name)) return await notFound(as, request);
  pages.credentials.observe({ type: "connection_removed", user: id, upstream: name, ip: context.ip });
  const work = pages.revocations.run();
  if (context.waitUntil) context.waitUntil(work);
  return redirectDone(as, CONNECTIONS_PATH, "disconnected", signedIn.session);
}
