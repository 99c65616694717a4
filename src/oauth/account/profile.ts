/**
 * `/account/profile` and `/account/email`: the name and the e-mail address of a user of this server. Those of a user who
 * signs in at identity providers come from there.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { chooseLanguage } from "../pages/language.ts";
import { showPage } from "../pages/page.ts";
import { isEmailAddress, isVerifiedAs } from "../users/email_address.ts";
import { updateUser } from "../users/user_changes.ts";
import { notFound, openForm, readDone, redirectDone } from "./account_form.ts";
import { type Account, openAccount } from "./account_user.ts";
import type { AccountEmailView, AccountProfileView } from "./account_views.ts";

const MAX_NAME_CHARACTERS = 128;
const PROFILE = "/account/profile";
const EMAIL = "/account/email";

/** `GET /account/profile`: 200; 404 for a user of another system. */
export async function showProfile(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request);
  if (account instanceof Response) return account;
  const done = readDone(request, account, ["name", "email", "email_sent"]);
  return await profilePage(as, request, account, { ...(done && { done }) });
}

/** `POST /account/profile` with `name`: 303 to the page; 400 for an invalid name. */
export async function changeName(as: AuthorizationServer, request: Request): Promise<Response> {
  const form = await openForm(as, request);
  if (form instanceof Response) return form;
  const { account, values, store } = form;
  if (!account.own) return await notFound(as, request);
  const name = (values.get("name") ?? "").trim();
  if (name === "" || name.length > MAX_NAME_CHARACTERS || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name)) {
    return await profilePage(as, request, account, { problem: "name_invalid" });
  }
  await updateUser(store, account.id, { name });
  return redirectDone(as, PROFILE, "name", account.signedIn.session);
}

/** `GET /account/email`: 200 after a recent login, else 303 to the login page. */
export async function showEmail(as: AuthorizationServer, request: Request): Promise<Response> {
  const account = await openAccount(as, request, { isRecent: true });
  if (account instanceof Response) return account;
  if (!account.own) return await notFound(as, request);
  return await emailPage(as, request, account.own.email);
}

/**
 * `POST /account/email` with `email`: 303 to the profile. A new address replaces the present one when its owner has followed
 * the link in a mail, and the present address then gets a notice (`../mail/email_verification.ts`), as it does when it is
 * removed. Without `sendMail` it replaces it at once, not verified. 400 for an invalid address, 429 after too many mails.
 */
export async function changeEmail(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await openForm(as, request, { isRecent: true });
  if (form instanceof Response) return form;
  const { account: { own, signedIn }, values, store } = form;
  if (!own) return await notFound(as, request);
  const email = (values.get("email") ?? "").trim();
  if (email !== "" && !isEmailAddress(email)) {
    return await emailPage(as, request, email, { code: "email_invalid" });
  }
  if (email !== "" && as.sendMail) {
    const { requestEmailVerification } = await import("../mail/email_verification.ts");
    const language = chooseLanguage(request, undefined, as.pages.defaultLanguage);
    const seconds = await requestEmailVerification(as, context, { store, user: own, email, language });
    if (seconds > 0) return await emailPage(as, request, email, { code: "too_many_attempts", seconds });
    return redirectDone(as, PROFILE, "email_sent", signedIn.session);
  }
  await updateUser(store, own.id, { email });
  // Else an address could be replaced in two steps without a notice.
  if (as.sendMail && own.email !== "") {
    (await import("../mail/notice.ts")).sendNotice(as, request, context, "email_removed", own);
  }
  as.observe({ type: "email_changed", user: own.id, ip: context.ip });
  return redirectDone(as, PROFILE, "email", signedIn.session);
}

async function profilePage(
  as: AuthorizationServer,
  request: Request,
  { own, name, email, identities, isExternal }: Account,
  state: Pick<AccountProfileView, "done" | "problem">,
): Promise<Response> {
  if (isExternal) return await notFound(as, request);
  // None is left of a user who unlinked the last one and has a passkey.
  const provider = own ? undefined : identities[0]?.provider;
  const source = provider === undefined ? undefined : (await as.providers.find(provider))?.name ?? provider;
  return await showPage(as, request, {
    name: "account_profile",
    account: `${as.base}/account`,
    user: name,
    ...(own && { username: own.username, form: { action: as.base + PROFILE, hidden: {} } }),
    email: {
      address: email,
      // A provider's address is kept only when the provider verified it.
      isVerified: email !== "" && (own ? isVerifiedAs(own, email) : true),
      ...(own && { change: as.base + EMAIL }),
    },
    ...(source !== undefined && { source }),
    ...state,
  }, { status: state.problem ? 400 : 200, formAction: "'self'" });
}

async function emailPage(
  as: AuthorizationServer,
  request: Request,
  email: string,
  problem?: AccountEmailView["problem"],
): Promise<Response> {
  return await showPage(as, request, {
    name: "account_email",
    account: `${as.base}/account`,
    action: as.base + EMAIL,
    hidden: {},
    email,
    isVerifiedFirst: as.sendMail !== undefined,
    ...(problem && { problem }),
  }, {
    status: problem === undefined ? 200 : problem.code === "too_many_attempts" ? 429 : 400,
    formAction: "'self'",
  });
}
