/**
 * `/account/connections/connect`: the consent of the user before an upstream is connected, and what follows: the redirect to
 * its authorization server, or the secret that is kept.
 *
 * @module
 */
import { parseForm } from "../../../http/body/form.ts";
import { NO_STORE, respond } from "../../../http/response.ts";
import { pathOf, queryOf } from "../../../http/router.ts";
import type { RequestContext } from "../../../http/service.ts";
import { type AccountForm, notFound, openForm, redirectDone } from "../../../oauth/account/account_form.ts";
import { type Account, openAccount } from "../../../oauth/account/account_user.ts";
import type { ConnectionConnectView } from "../../../oauth/account/connections/connection_views.ts";
import type { AuthorizationServer } from "../../../oauth/authorization_server.ts";
import { showPage } from "../../../oauth/pages/page.ts";
import { beginConnection } from "../authorize.ts";
import type { ConnectRequest } from "../connect_link.ts";
import { removeConnection } from "../connection.ts";
import { CONNECTIONS_PATH, tagOf, type Upstream } from "../context.ts";
import { isSecret, saveSecret } from "../secret_access.ts";
import type { OAuthAuth, SecretAuth } from "../upstream_auth.ts";
import {
  type ConnectionPagesContext,
  kindOf,
  listOf,
  providerOf,
  refuseConnection,
  reportFailure,
  showProblem,
} from "./frame.ts";

/** What a page or a form is about: an upstream, and the link by which the user came. */
interface Target {
  readonly upstream: Upstream;
  readonly link?: string;
  readonly request?: ConnectRequest;
}

/** What the parameters name; a response when the link is not for this user. */
async function findTarget(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  { id }: Account,
  values: ReadonlyMap<string, string>,
): Promise<Target | Response> {
  const link = values.get("link");
  if (link === undefined) {
    const upstream = pages.upstreams.get(values.get("upstream") ?? "");
    return upstream && kindOf(upstream) !== undefined ? { upstream } : await notFound(as, request);
  }
  const asked = await pages.credentials.links.read(link);
  const upstream = asked && pages.upstreams.get(asked.upstream);
  if (!asked || !upstream) return await refuseConnection(as, request, { code: "link_invalid" }, 400);
  if (asked.user !== id) {
    // Otherwise who sends a link to someone else would get the account of that person.
    reportFailure(pages, id, asked.upstream, "other_user", context);
    const view = { code: "other_user", upstream: asked.upstream, signOut: `${as.base}/logout` } as const;
    return await refuseConnection(as, request, view, 403);
  }
  const isSame = asked.address === tagOf(upstream.url);
  return { upstream, link, ...(isSame && { request: asked }) };
}

export async function showConnect(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const back = pathOf(request.url).slice(as.base.length) + "?" + queryOf(request.url);
  const account = await openAccount(as, request, { back });
  if (account instanceof Response) return account;
  const { values, repeated } = parseForm(queryOf(request.url));
  if (repeated.length > 0) return await refuseConnection(as, request, { code: "link_invalid" }, 400);
  const target = await findTarget(pages, as, request, context, account, values);
  return target instanceof Response ? target : await connectPage(as, request, account, target);
}

async function connectPage(
  as: AuthorizationServer,
  request: Request,
  account: Account,
  { upstream, link, request: asked }: Target,
  problem?: ConnectionConnectView["problem"],
): Promise<Response> {
  const kind = kindOf(upstream)!;
  const target: Record<string, string> = link === undefined ? { upstream: upstream.name } : { link };
  // What the user enters and allows is for the host that the page names.
  const hidden = { ...target, address: tagOf(upstream.url) };
  const provider = providerOf(upstream);
  const known = provider === undefined ? undefined : await as.providers.find(provider);
  const label = upstream.auth.type === "secret" ? upstream.auth.label : undefined;
  const back = encodeURIComponent(listOf(as));
  // Without `form-action`: the form leads to the authorization server of the upstream.
  return await showPage(as, request, {
    name: "connection_connect",
    connections: listOf(as),
    upstream: upstream.name,
    host: new URL(upstream.url).host,
    kind,
    user: account.name,
    scopes: asked?.scopes ?? [],
    ...(kind !== "provider" && { form: { action: `${listOf(as)}/connect`, hidden } }),
    ...(label !== undefined && { label }),
    ...(known && {
      provider: { name: known.name, url: `${as.base}/login/${known.id}?redirect=${back}` },
    }),
    ...(problem && { problem }),
  }, { status: problem ? 400 : 200 });
}

export async function connect(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await openForm(as, request, { back: CONNECTIONS_PATH });
  if (form instanceof Response) return form;
  const { account, values } = form;
  const target = await findTarget(pages, as, request, context, account, values);
  if (target instanceof Response) return target;
  const { upstream, request: asked } = target;
  const { name, auth } = upstream;
  const address = values.get("address");
  if (address !== undefined && address !== tagOf(upstream.url)) {
    return await refuseChanged(pages, as, request, context, account, name);
  }
  if (auth.type === "secret") {
    return await connectSecret(pages, as, request, context, form, target);
  }
  if (auth.type !== "oauth") return await notFound(as, request);
  try {
    const location = await beginConnection(pages.credentials, upstream as Upstream<OAuthAuth>, {
      user: account.id,
      session: account.signedIn.session,
      scopes: asked?.scopes,
      metadata: asked?.metadata,
    });
    return respond(303, null, [["location", location], NO_STORE]);
  } catch (error) {
    return await showProblem(pages, as, request, context, account.id, name, error);
  }
}

async function connectSecret(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  { account, values, store }: AccountForm,
  target: Target,
): Promise<Response> {
  const secret = (values.get("secret") ?? "").trim();
  const { name } = target.upstream;
  if (!isSecret(secret)) {
    reportFailure(pages, account.id, name, "secret_invalid", context);
    return await connectPage(as, request, account, target, "secret_invalid");
  }
  const credentials = { ...pages.credentials, store };
  await saveSecret(credentials, target.upstream as Upstream<SecretAuth>, account.id, secret);
  // Its removal may have ended all connections before this one was made.
  const current = pages.upstreams.get(name);
  if (current?.auth.type !== "secret" || current.url !== target.upstream.url) {
    await removeConnection(pages.credentials, account.id, name);
    return await refuseChanged(pages, as, request, context, account, name);
  }
  pages.credentials.observe({ type: "connection_added", user: account.id, upstream: name, ip: context.ip });
  return redirectDone(as, CONNECTIONS_PATH, "connected", account.signedIn.session);
}

/** The page for an upstream that was changed or removed after the user saw it. */
async function refuseChanged(
  pages: ConnectionPagesContext,
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  { id }: Account,
  upstream: string,
): Promise<Response> {
  const reason = "upstream_changed";
  reportFailure(pages, id, upstream, reason, context);
  return await refuseConnection(as, request, { code: "failed", upstream, reason }, 409);
}
