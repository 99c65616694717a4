/**
 * `/account/data`, `/account/export` and `/account/delete`: the user's copy of their data, and its deletion.
 *
 * @module
 */
import { NO_STORE, respond } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { showPage } from "../pages/page.ts";
import { readProviderTokens } from "../sign_in/provider_tokens.ts";
import { endSession } from "../users/session.ts";
import { notFound, openForm, revokeLater } from "./account_form.ts";
import { type Account, openAccount } from "./account_user.ts";
import { LastAdminError, removeAccount } from "../users/remove_user.ts";
import { exportUserData } from "./user_data.ts";

const DELETE = "/account/delete";

/** `GET /account/data`: 200. */
export async function showData(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  return await showPage(as, request, {
    name: "account_data",
    account: `${as.base}/account`,
    export: { action: `${as.base}/account/export`, hidden: {} },
    ...(!account.isExternal && { delete: as.base + DELETE }),
  }, { formAction: "'self'" });
}

/** `POST /account/export`: 200 with a JSON file. */
export async function exportData(as: AuthorizationServer, request: Request): Promise<Response> {
  const form = await openForm(as, request, { back: "/account/data" });
  if (form instanceof Response) return form;
  const data = await exportUserData(as.store, form.account.id, as);
  if (!data) return await notFound(as, request);
  return respond(200, JSON.stringify(data, null, 2) + "\n", [
    ["content-type", "application/json; charset=utf-8"],
    ["content-disposition", `attachment; filename="account-${data.exported.slice(0, 10)}.json"`],
    ["x-content-type-options", "nosniff"],
    NO_STORE,
  ]);
}

/** `GET /account/delete`: 200 after a recent login, else 303 to the login page; 404 for a user of another system. */
export async function showDelete(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request, { isRecent: true });
  if (account instanceof Response) return account;
  return await deletePage(as, request, account, {});
}

/** `POST /account/delete` with the user name as `confirmation`: 200, and no user is signed in. 400 for another text, 409 for the last administrator. */
export async function deleteAccount(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await openForm(as, request, { isRecent: true });
  if (form instanceof Response) return form;
  const { account, values, store } = form;
  if (account.isExternal) return await notFound(as, request);
  if (toLine(values.get("confirmation") ?? "") !== confirmationOf(account)) {
    return await deletePage(as, request, account, { status: 400, isWrong: true });
  }
  const kept = await readProviderTokens(as, account.id);
  try {
    if (!await removeAccount(as, account.id, store)) return await notFound(as, request);
  } catch (error) {
    if (!(error instanceof LastAdminError)) throw error;
    return await deletePage(as, request, account, { status: 409, isLastAdmin: true });
  }
  revokeLater(as, context, account.id, kept);
  as.observe({ type: "account_deleted", user: account.id, ip: context.ip });
  return await showPage(as, request, { name: "account_deleted", signIn: `${as.base}/login` }, {
    formAction: "'none'",
    fields: await endSession(as, request, account.id),
  });
}

async function deletePage(
  as: AuthorizationServer,
  request: Request,
  account: Account,
  { status = 200, isWrong = false, isLastAdmin = false },
): Promise<Response> {
  if (account.isExternal) return await notFound(as, request);
  return await showPage(as, request, {
    name: "account_delete",
    account: `${as.base}/account`,
    action: as.base + DELETE,
    hidden: {},
    confirmation: confirmationOf(account),
    isWrong,
    isLastAdmin,
  }, { status, formAction: "'self'" });
}

/** What the user types: a user who signs in at a provider has no user name here. */
function confirmationOf({ own, name }: Account): string {
  return toLine(own?.username ?? name);
}

/** As a browser shows it. */
function toLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
