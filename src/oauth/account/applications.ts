/**
 * `/account/applications`: what the user allowed to which application, and how to take it back.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { describeAccess, describeApplication } from "../consent/access_description.ts";
import { endUserGrants } from "../grants/end_grants.ts";
import { chooseLanguage } from "../pages/language.ts";
import { showPage } from "../pages/page.ts";
import { notFound, openForm, readDone, redirectDone } from "./account_form.ts";
import { openAccount } from "./account_user.ts";
import { listUserApplications } from "./user_application.ts";

const PATH = "/account/applications";
/** Applications that are shown: those last used. */
const MAX_SHOWN = 100;

/** `GET`: 200 with the list. */
export async function showApplications(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  const language = chooseLanguage(request, undefined, as.pages.defaultLanguage);
  const found = (await listUserApplications(as, account.id)).slice(0, MAX_SHOWN);
  const applications = await Promise.all(found.map(async (each) => ({
    application: describeApplication({ id: each.client, name: each.name, source: each.source }),
    access: await describeAccess(as, language, {
      scope: each.scopes.join(" "),
      ...(each.resources.length > 0 && { resource: each.resources }),
      ...(each.authorization_details && { authorization_details: each.authorization_details }),
    }, new Set()),
    since: each.since,
    ...(each.used !== undefined && { used: each.used }),
    end: { action: as.base + PATH, hidden: { client_id: each.client } },
  })));
  return await showPage(as, request, {
    name: "account_applications",
    account: `${as.base}/account`,
    applications,
    isDone: readDone(request, account, ["application"]) !== undefined,
  }, { formAction: "'self'" });
}

/**
 * `POST` with `client_id`: ends all that the user allowed this application, and 303 to the list. 404 for an application that
 * does not exist or that the user allowed nothing.
 */
export async function endApplication(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await openForm(as, request);
  if (form instanceof Response) return form;
  const { account, values, store } = form;
  const client = values.get("client_id") ?? "";
  if (!await endUserGrants(store, account.id, client)) return await notFound(as, request);
  as.observe({ type: "grant_revoked", user: account.id, client, ip: context.ip });
  return redirectDone(as, PATH, "application", account.signedIn.session);
}
